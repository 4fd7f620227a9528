import { encode } from 'fast-png'
import { colorTable } from './color-map.ts'

/** The longer side of a picture; larger fields are averaged over blocks of cells. */
const sideLimit = 2048

/**
 * A row-major field as a PNG: the smallest finite value dark, the largest bright, row 0 on top, values that are not finite white.
 * A field without a range (or without cells) is one colour. Returns the bytes of the file.
 */
export function fieldPicture(field: ArrayLike<number>, rows: number, columns: number): Uint8Array {
  const step = Math.max(1, Math.ceil(Math.max(rows, columns) / sideLimit))
  const height = Math.max(1, Math.ceil(rows / step))
  const width = Math.max(1, Math.ceil(columns / step))
  const values = new Float64Array(width * height)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++)
      values[y * width + x] = blockMean(field, rows, columns, y * step, x * step, step)
  }

  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  for (const value of values) {
    if (!Number.isFinite(value)) continue
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  const scale = high > low ? 255 / (high - low) : 0
  const data = new Uint8Array(width * height * 3).fill(255)
  values.forEach((value, i) => {
    if (!Number.isFinite(value)) return
    const color = Math.round((value - low) * scale) * 3
    data.set(colorTable.subarray(color, color + 3), i * 3)
  })
  return encode({ width, height, data, channels: 3, depth: 8 })
}

function blockMean(
  field: ArrayLike<number>,
  rows: number,
  columns: number,
  row: number,
  column: number,
  step: number,
) {
  const rowEnd = Math.min(row + step, rows)
  const columnEnd = Math.min(column + step, columns)
  let sum = 0
  for (let r = row; r < rowEnd; r++) for (let c = column; c < columnEnd; c++) sum += field[r * columns + c]!
  return sum / ((rowEnd - row) * (columnEnd - column))
}
