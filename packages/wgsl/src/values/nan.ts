/**
 * A NaN with specific bits. JavaScript numbers do not preserve the payload, so a NaN from memory or from a
 * `bitcast` is an object that acts as NaN in arithmetic and stores its bits.
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

/** The representation of a float value, given the number and the bits that it was read from. */
export function floatValue(x: number, bits: () => number): number {
  return Number.isNaN(x) ? (new NanWithBits(bits()) as unknown as number) : x
}

/** The bits of a NaN that stores them; undefined for other floats. */
export function nanBits(x: unknown): number | undefined {
  return x instanceof NanWithBits ? x.bits : undefined
}
