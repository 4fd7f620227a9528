import type { BufferView, Recorder } from '@tandem-gpu/core'
import type { MatmulType } from '../matmul-shape.ts'
import { leftRows } from '../single/left-rows.ts'
import type { MatmulKernels } from '../single/matmul-kernels.ts'
import { recordLeftMatmul } from '../single/record-matmul.ts'
import {
  type Place,
  recordSplitColumns,
  recordSplitProduct,
  recordSplitRows,
  type SplitOperand,
  splitColumnsBlock,
  splitColumnsMemory,
  splitFlags,
  splitRowsBlock,
  splitRowsMemory,
} from '../tensor/record-split.ts'

/**
 * One device's products of rows of A and a panel of B, both of which are repeatedly uploaded from host memory
 * into the same buffers.
 */
export interface StreamedProduct<T extends MatmulType> {
  /** Records the work that must follow the arrival of these rows of A. `row` is a multiple of 128. */
  arriveRows(row: number, rows: number): void
  /**
   * Records the product of rows that have arrived and the panel's first `c.columns` columns. `c` begins with
   * the first of the rows.
   */
  multiply(row: number, rows: number, panel: StreamedPanel<T>, c: BufferView<T>): void
}

/** A buffer for panels of B. */
export interface StreamedPanel<T extends MatmulType> {
  readonly view: BufferView<T>
  /** Records the work that must follow the arrival of `columns` columns. */
  arrive(columns: number): void
  /** The f16 parts of the columns that arrived last; undefined if products are not computed from parts. */
  readonly parts: () => SplitOperand | undefined
}

/** A buffer for panels of `view.columns` columns. */
export function streamedPanel<T extends MatmulType>(
  recorder: Recorder,
  { split }: MatmulKernels,
  view: BufferView<T>,
  place: Place,
): StreamedPanel<T> {
  if (split === undefined) return { view, arrive() {}, parts: () => undefined }
  const memory = splitColumnsMemory(recorder, view.rows, view.columns, place)
  let parts: SplitOperand | undefined
  return {
    view,
    arrive(columns) {
      const arrived = view.block(0, 0, view.rows, columns) as unknown as BufferView<'f32'>
      parts = recordSplitColumns(recorder, split, arrived, place, splitColumnsBlock(memory, columns))
    },
    parts: () => parts,
  }
}

/**
 * The products of the rows of A in `a`, whose columns from `k` on are padding. `cStride`: leading dimension
 * of C. `sums`: memory for the parts of all rows, if k is divided.
 */
export function streamedProduct<T extends MatmulType>(
  recorder: Recorder,
  kernels: MatmulKernels,
  a: BufferView<T>,
  {
    device,
    label,
    k,
    cStride,
    sums,
  }: Place & {
    readonly k: number
    readonly cStride: number
    readonly sums?: BufferView<T> | undefined
  },
): StreamedProduct<T> {
  const place = { device, label }
  const { split } = kernels
  if (split === undefined) {
    const left = leftRows(recorder, kernels, a, { ...place, k, cStride, needed: cStride % 4 === 0 })
    return {
      arriveRows: (row, rows) => left.arrive(row, rows),
      multiply(row, rows, { view }, c) {
        const b = view.block(0, 0, k, c.columns)
        recordLeftMatmul(recorder, kernels, left.parts(row, rows), b, c, { ...place, sums })
      },
    }
  }
  const memory = splitRowsMemory(recorder, a.rows, k, place)
  const flags = splitFlags(recorder, a.rows, cStride, place)
  const operand = (row: number, rows: number) => ({
    view: a.block(row, 0, rows, a.columns) as unknown as BufferView<'f32'>,
    memory: splitRowsBlock(memory, row, rows),
  })
  return {
    arriveRows(row, rows) {
      const { view, memory } = operand(row, rows)
      recordSplitRows(recorder, split, view, k, place, memory)
    },
    multiply(row, rows, panel, c) {
      const { view, memory } = operand(row, rows)
      const result = c as unknown as BufferView<'f32'>
      const left = { view, ...memory }
      recordSplitProduct(recorder, split, kernels.blocking, left, panel.parts()!, result, place, flags)
    },
  }
}
