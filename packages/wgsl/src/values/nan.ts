/**
 * A NaN whose bits are not the usual ones. JavaScript numbers keep no payload, so a NaN that comes from
 * memory or from a `bitcast` is an object that counts as NaN in arithmetic and still knows its bits.
 */
class NanWithBits {
  readonly bits: number

  constructor(bits: number) {
    this.bits = bits
  }

  valueOf(): number {
    return Number.NaN
  }
}

/** A float as values hold it, given the number and the bits that it was read from. */
export function floatValue(x: number, bits: () => number): number {
  return Number.isNaN(x) ? (new NanWithBits(bits()) as unknown as number) : x
}

/** The bits of a NaN that knows them; undefined for other floats. */
export function nanBits(x: unknown): number | undefined {
  return x instanceof NanWithBits ? x.bits : undefined
}
