import { encode } from 'fast-png'
import { colorTable } from './color-map.ts'
import { type Borders, encodeFigure, type FieldPixels } from './figure.ts'

/** The longer side of a picture; larger fields are averaged over square blocks of cells. */
const sideLimit = 2048

/**
 * Draws a row-major field that is added in pieces. The smallest finite value is dark, the largest bright, row 0 on top; values that are not
 * finite are white. A field of equal values (or without cells) has one colour.
 */
export class FieldPicture {
  readonly #rows: number
  readonly #columns: number
  readonly #step: number
  readonly #width: number
  readonly #height: number
  /** The sum of the cells of each pixel. */
  readonly #sums: Float64Array

  constructor(rows: number, columns: number) {
    this.#rows = rows
    this.#columns = columns
    this.#step = Math.max(1, Math.ceil(Math.max(rows, columns) / sideLimit))
    this.#height = Math.max(1, Math.ceil(rows / this.#step))
    this.#width = Math.max(1, Math.ceil(columns / this.#step))
    this.#sums = new Float64Array(this.#width * this.#height)
  }

  /** Adds cells from flat index `offset` on. Each cell must be added exactly once. */
  add(offset: number, cells: ArrayLike<number>): void {
    let column = offset % this.#columns
    let row = (offset - column) / this.#columns
    for (let i = 0; i < cells.length; i++) {
      const pixel = Math.floor(row / this.#step) * this.#width + Math.floor(column / this.#step)
      this.#sums[pixel]! += cells[i]!
      if (++column === this.#columns) {
        column = 0
        row++
      }
    }
  }

  /** The bytes of a PNG file for people, large and with a colour bar. `borders`: columns and rows of cells at which the parts of devices begin. */
  encodeFigure(borders: Borders = { xs: [], ys: [] }): Uint8Array {
    const [xs, ys] = [borders.xs, borders.ys].map((cells) => cells.map((cell) => cell / this.#step))
    return encodeFigure(this.#pixels(), { xs: xs!, ys: ys! })
  }

  #pixels(): FieldPixels {
    const values = this.#sums.map((sum, pixel) => sum / this.#cellsOf(pixel))
    let low = Number.POSITIVE_INFINITY
    let high = Number.NEGATIVE_INFINITY
    for (const value of values) {
      if (!Number.isFinite(value)) continue
      low = Math.min(low, value)
      high = Math.max(high, value)
    }
    return { width: this.#width, height: this.#height, values, low, high }
  }

  /** The bytes of a PNG file with a pixel for each cell, or for each block of cells. */
  encode(): Uint8Array {
    const { values, low, high } = this.#pixels()
    const scale = high > low ? 255 / (high - low) : 0
    const data = new Uint8Array(values.length * 3).fill(255)
    values.forEach((value, i) => {
      if (!Number.isFinite(value)) return
      const color = Math.round((value - low) * scale) * 3
      data.set(colorTable.subarray(color, color + 3), i * 3)
    })
    return encode({ width: this.#width, height: this.#height, data, channels: 3, depth: 8 })
  }

  /** Blocks at the right and lower edges may be smaller. */
  #cellsOf(pixel: number): number {
    const x = pixel % this.#width
    const y = (pixel - x) / this.#width
    const extent = (start: number, end: number) => Math.max(1, Math.min(this.#step, end - start))
    return extent(x * this.#step, this.#columns) * extent(y * this.#step, this.#rows)
  }
}
