import type { JacobiReport } from '@tandem-gpu/algorithms'
import { type Borders, encodeFigure, type FieldPixels } from './figure.ts'

/** The longer side of a picture; larger fields are averaged over square blocks of cells. */
const sideLimit = 2048

/** Draws a row-major field, with row 0 at the top. The field is added in pieces. */
export class FieldPicture {
  readonly #rows: number
  readonly #columns: number
  readonly #step: number
  readonly #width: number
  readonly #height: number
  readonly #kind: Pick<FieldPixels, 'signed' | 'logarithms'>
  /** The sum of each pixel's cells. */
  readonly #sums: Float64Array

  constructor(
    rows: number,
    columns: number,
    kind: Pick<FieldPixels, 'signed' | 'logarithms'> = { signed: true },
  ) {
    this.#kind = kind
    this.#rows = rows
    this.#columns = columns
    this.#step = Math.max(1, Math.ceil(Math.max(rows, columns) / sideLimit))
    this.#height = Math.max(1, Math.ceil(rows / this.#step))
    this.#width = Math.max(1, Math.ceil(columns / this.#step))
    this.#sums = new Float64Array(this.#width * this.#height)
  }

  /** Adds cells, starting at the flat index `offset`. Each cell must be added exactly once. */
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

  /**
   * The bytes of a PNG file, large and with a colour bar. `borders` lists the columns and rows of cells at
   * which the devices' parts begin.
   */
  encode(borders: Borders = { xs: [], ys: [] }): Uint8Array {
    const pixels = (cells: readonly number[]) => cells.map((cell) => cell / this.#step)
    return encodeFigure(this.#pixels(), { xs: pixels(borders.xs), ys: pixels(borders.ys) })
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
    return { width: this.#width, height: this.#height, values, low, high, ...this.#kind }
  }

  /** Blocks at the right and lower edges may be smaller. */
  #cellsOf(pixel: number): number {
    const x = pixel % this.#width
    const y = (pixel - x) / this.#width
    const extent = (start: number, end: number) => Math.max(1, Math.min(this.#step, end - start))
    return extent(x * this.#step, this.#columns) * extent(y * this.#step, this.#rows)
  }
}

/** The borders between the devices' blocks, which begin inside the boundary cells. */
export function bordersOf({ blocks }: JacobiReport): Borders {
  const starts = (cells: readonly number[]) =>
    [...new Set(cells)].filter((cell) => cell > 0).map((cell) => cell + 1)
  return { xs: starts(blocks.map(({ column }) => column)), ys: starts(blocks.map(({ row }) => row)) }
}
