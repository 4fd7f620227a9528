/** VIMNMX3 R7, R0, R6, R7, !PT: the low and the high half of the instruction. */
export const signedOfThree = [0x000000060007720fn, 0x008fca0007800107n] as const
/** VIMNMX3.U32 R9, R0, R7, R6, !PT */
export const unsignedOfThree = [0x000000070009720fn, 0x004fc40007800006n] as const

/** An ELF file with an executable section that holds one instruction, behind one that only has its bytes. */
export function cubinOf([low, high]: readonly [bigint, bigint]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(64 + 32 + 3 * 64)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, 0x7f454c46)
  const headers = 64 + 32
  view.setBigUint64(0x28, BigInt(headers), true)
  view.setUint16(0x3a, 64, true)
  view.setUint16(0x3c, 3, true)
  const section = (index: number, type: number, flags: bigint, start: number, byteLength: number) => {
    const at = headers + 64 * index
    view.setUint32(at + 4, type, true)
    view.setBigUint64(at + 8, flags, true)
    view.setBigUint64(at + 24, BigInt(start), true)
    view.setBigUint64(at + 32, BigInt(byteLength), true)
  }
  section(0, 1, 2n, 64, 16)
  section(1, 8, 6n, 64, 2 ** 40)
  section(2, 1, 6n, 80, 16)
  for (const [at, half] of [...signedOfThree, low, high].entries()) view.setBigUint64(64 + 8 * at, half, true)
  return bytes
}
