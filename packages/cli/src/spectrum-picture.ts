import { histogramPicture } from './histogram-picture.ts'
import { FieldPicture } from './picture.ts'

/**
 * The largest number of bars in a picture of one axis. For longer axes, a bar shows the largest magnitude
 * among neighbours.
 */
const mostBars = 1024

/**
 * Draws the magnitudes of an array of one or two axes that is added in pieces, in the order of the array:
 * those of one axis as bars (SVG), in which values that are not finite are missing; those of two axes by
 * their logarithm (PNG), in which zeros and such values are white, and with their own numbers at the colour bar. With `complex`, each value is two numbers.
 */
export class SpectrumPicture {
  readonly #complex: boolean
  readonly #length: number
  readonly #field: FieldPicture | undefined
  readonly #bars: Float64Array
  readonly #together: number

  constructor(shape: readonly number[], complex: boolean) {
    this.#complex = complex
    this.#length = shape.reduce((product, side) => product * side, 1)
    this.#field =
      shape.length === 2
        ? new FieldPicture(shape[0]!, shape[1]!, { signed: false, logarithms: true })
        : undefined
    this.#together = Math.max(1, Math.ceil(this.#length / mostBars))
    this.#bars = new Float64Array(this.#field === undefined ? Math.ceil(this.#length / this.#together) : 0)
  }

  /**
   * Adds numbers, starting at the flat index `offset`; complex numbers must not be divided. Each must be
   * added exactly once.
   */
  add(offset: number, numbers: ArrayLike<number>): void {
    const each = this.#complex ? 2 : 1
    const first = offset / each
    const magnitudes = Float64Array.from({ length: numbers.length / each }, (_, k) =>
      this.#complex ? Math.hypot(numbers[2 * k]!, numbers[2 * k + 1]!) : Math.abs(numbers[k]!),
    )
    if (this.#field !== undefined) {
      this.#field.add(first, magnitudes.map(Math.log10))
      return
    }
    for (const [k, magnitude] of magnitudes.entries()) {
      const bar = Math.floor((first + k) / this.#together)
      if (Number.isFinite(magnitude)) this.#bars[bar] = Math.max(this.#bars[bar]!, magnitude)
    }
  }

  /** The bytes of the file. */
  encode(): Uint8Array {
    if (this.#field !== undefined) return this.#field.encode()
    const edges = Float64Array.from({ length: this.#bars.length + 1 }, (_, bar) =>
      Math.min(this.#length, bar * this.#together),
    )
    return Buffer.from(histogramPicture({ counts: this.#bars, edges }))
  }
}
