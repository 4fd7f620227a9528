/**
 * 64 bits as two numbers, for comparing calls between ranks: different inputs almost certainly have different
 * hashes.
 */
export type Hash = readonly [high: number, low: number]

export const emptyHash: Hash = [0xdeadbeef, 0x41c6ce57]

/** The hash of the previous input followed by `text` (cyrb53 by bryc, public domain, kept in 64 bits). */
export function hashText([high, low]: Hash, text: string): Hash {
  let a = high
  let b = low
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = Math.imul(a ^ code, 2654435761)
    b = Math.imul(b ^ code, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return [a >>> 0, b >>> 0]
}

export function hashDigits([high, low]: Hash): string {
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0')
}
