/** `byteLength` rounded up to a multiple of 4. */
export function wholeWords(byteLength: number): number {
  return Math.ceil(byteLength / 4) * 4
}
