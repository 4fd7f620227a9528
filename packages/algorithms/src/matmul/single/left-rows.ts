import { type BufferView, bindableByteLength, type Recorder } from '@tandem-gpu/core'
import type { RowRange } from '../../sharded-matrix.ts'
import type { MatmulType } from '../matmul-shape.ts'
import type { Place } from '../tensor/record-split.ts'
import type { MatmulKernels } from './matmul-kernels.ts'

/** The rows of A that a device multiplies, in the layout that its kernels read. */
export interface LeftRows<T extends MatmulType> {
  /**
   * Records the work that must follow the arrival of these rows: none, or their transposition. `row` is a
   * multiple of four.
   */
  arrive(row: number, rows: number): void
  /** Rows that have arrived, divided into parts that a kernel can bind. */
  parts(row: number, rows: number): LeftPart<T>[]
}

export interface LeftPart<T extends MatmulType> extends RowRange {
  readonly view: BufferView<T>
  /** k × rows, rounded up to a multiple of four; undefined if the kernels read `view`. */
  readonly transposed?: BufferView<T>
}

export interface LeftRowsOptions extends Place {
  /** The number of rows of B. Columns of A from this index on are padding. */
  readonly k: number
  /** Leading dimension of C. */
  readonly cStride: number
  /** False if the rows of B or C do not allow 16-byte accesses. Then nothing is transposed. */
  readonly needed: boolean
}

/**
 * Prepares the rows of `a`, m × k, for products recorded on `device`. If the kernels read A transposed, the
 * rows are transposed once, into scratch memory of k × m elements (m rounded up to a multiple of four).
 */
export function leftRows<T extends MatmulType>(
  recorder: Recorder,
  kernels: MatmulKernels,
  a: BufferView<T>,
  { device, label, k, cStride, needed }: LeftRowsOptions,
): LeftRows<T> {
  const limit = bindableByteLength(device)
  const height = rowsWithin(limit, Math.max(a.stride, cStride), a.rows)
  const { transpose } = kernels
  const { maxBufferByteLength, maxWorkgroupsPerDimension: grid } = device.limits
  const [across, down] = transpose?.tile ?? [1, 1]
  const tallest = Math.min(
    rowsWithin(Math.min(limit, maxBufferByteLength), Math.max(a.stride, cStride), up4(a.rows)),
    grid * down,
  )
  if (!transpose || !needed || k === 0 || k > grid * across || tallest % 4 !== 0)
    return {
      arrive() {},
      parts: (row, rows) =>
        cut(row, rows, height).map((part) => ({ ...part, view: a.block(part.row, 0, part.rows, a.columns) })),
    }
  const blocks = cut(0, a.rows, tallest).map((range) =>
    recorder.scratch(device.ordinal, a.buffer.type, [k, up4(range.rows)], { label: `${label} A transposed` }),
  )
  const parts = (row: number, rows: number) =>
    cut(row, rows, tallest).map((part) => ({
      ...part,
      view: a.block(part.row, 0, part.rows, a.columns),
      transposed: blocks[Math.floor(part.row / tallest)]!.block(0, part.row % tallest, k, up4(part.rows)),
    }))
  return {
    parts,
    arrive(row, rows) {
      for (const part of parts(row, rows))
        recorder.dispatch(transpose.kernel, {
          device: device.ordinal,
          workgroups: [Math.ceil(k / across), Math.ceil(part.rows / down)],
          args: {
            input: part.view.block(0, 0, part.rows, k),
            output: part.transposed.block(0, 0, k, part.rows),
          },
          label: `${label} transpose A`,
        })
    },
  }
}

const up4 = (value: number) => Math.ceil(value / 4) * 4

/** Splits rows `[row, row + rows)` at multiples of `height`. */
function cut(row: number, rows: number, height: number): RowRange[] {
  const ranges: RowRange[] = []
  for (let top = row; top < row + rows; ) {
    const end = Math.min(row + rows, (Math.floor(top / height) + 1) * height)
    ranges.push({ row: top, rows: end - top })
    top = end
  }
  return ranges
}

/**
 * The maximum number of rows in one part: rows of `stride` 4-byte elements that span at most `limit` bytes.
 * It divides `rows` into parts of similar size and is a multiple of 128 if possible.
 */
function rowsWithin(limit: number, stride: number, rows: number): number {
  const fit = Math.max(1, Math.floor(limit / 4 / Math.max(1, stride)))
  if (fit >= rows) return rows
  if (fit < 128) return fit
  const parts = Math.ceil(rows / (fit - (fit % 128)))
  return Math.ceil(rows / parts / 128) * 128
}
