/** Elements of a block over and over, from its element `shift` on: generating billions of them one by one takes longer than what they are for. */
export function repeated<T extends Float32Array | Uint16Array>(block: T, shift: number) {
  return (offset: number, into: T): void => {
    for (let at = 0; at < into.length; ) {
      const first = (offset + at + shift) % block.length
      const count = Math.min(block.length - first, into.length - at)
      into.set(block.subarray(first, first + count) as never, at)
      at += count
    }
  }
}
