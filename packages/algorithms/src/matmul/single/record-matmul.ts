import {
  type BufferView,
  bindableByteLength,
  type Device,
  foldWorkgroups,
  GpuError,
  type Recorder,
} from '@tandem-gpu/core'
import { requireResult } from '../../require-result.ts'
import { requireMatrix, type ShardedMatrix } from '../../sharded-matrix.ts'
import { panelColumns } from '../choose/panel-columns.ts'
import type { MatmulType } from '../matmul-shape.ts'
import {
  type Place,
  recordSplitColumns,
  recordSplitProduct,
  recordSplitRows,
} from '../tensor/record-split.ts'
import { type LeftPart, leftRows } from './left-rows.ts'
import type { MatmulKernels } from './matmul-kernels.ts'

/** Options of `recordMatmul`. */
export interface RecordMatmulOptions {
  /** The device that computes. Default: the device that owns C. */
  device?: Device | number | undefined
  label?: string | undefined
}

/**
 * Records C = A · B on one device: `a` m × k, `b` k × n, `c` m × n, any leading dimensions. Views whose rows
 * start at multiples of four elements, with n a multiple of four, use 16-byte accesses. Rows are split if a
 * binding would exceed the device's limit; `b` must fit into one binding.
 */
export function recordMatmul<T extends MatmulType>(
  recorder: Recorder,
  kernels: MatmulKernels,
  a: BufferView<T>,
  b: BufferView<T>,
  c: BufferView<T>,
  options: RecordMatmulOptions = {},
): void {
  if (a.columns !== b.rows || a.rows !== c.rows || b.columns !== c.columns)
    throw new GpuError(
      'validation',
      `Matmul of ${a.rows} × ${a.columns} by ${b.rows} × ${b.columns} into ${c.rows} × ${c.columns}: the inner sizes must be equal, and the outer sizes must be those of the result.`,
    )
  recordPaddedMatmul(recorder, kernels, a, b, c, options)
}

/**
 * Like `recordMatmul`, but `a` may have more columns than `b` has rows; the additional columns are padding.
 */
export function recordPaddedMatmul<T extends MatmulType>(
  recorder: Recorder,
  kernels: MatmulKernels,
  a: BufferView<T>,
  b: BufferView<T>,
  c: BufferView<T>,
  options: RecordMatmulOptions = {},
): void {
  requireKernels(kernels)
  const m = c.rows
  const n = c.columns
  const k = b.rows
  if (m === 0 || n === 0) return
  const device =
    options.device === undefined
      ? c.buffer.device
      : typeof options.device === 'number'
        ? recorder.devices[options.device]!
        : options.device
  const label = options.label ?? 'matmul'
  if (kernels.split !== undefined && k > 0) {
    const place = { device, label }
    const [left, right] = [a, b] as unknown as [BufferView<'f32'>, BufferView<'f32'>]
    const rows = recordSplitRows(recorder, kernels.split, left, k, place)
    const columns = recordSplitColumns(recorder, kernels.split, right, place)
    const target = c as unknown as BufferView<'f32'>
    recordSplitProduct(recorder, kernels.split, kernels.blocking, rows, columns, target, place)
    return
  }
  const needed = wide(b) && wideRows(c)
  const left = leftRows(recorder, kernels, a, { device, label, k, cStride: c.stride, needed })
  left.arrive(0, m)
  recordLeftMatmul(recorder, kernels, left.parts(0, m), b, c, { device, label })
}

/** The device that computes a product, and its scratch memory. */
interface ProductPlace<T extends MatmulType> extends Place {
  /**
   * Memory for the sums over the parts of k, one below the other. Default: allocated by the program for each
   * product.
   */
  readonly sums?: BufferView<T> | undefined
}

/** Like `recordPaddedMatmul`, for rows of A that have arrived. `c` begins with the first of them. */
export function recordLeftMatmul<T extends MatmulType>(
  recorder: Recorder,
  kernels: MatmulKernels,
  parts: readonly LeftPart<T>[],
  b: BufferView<T>,
  c: BufferView<T>,
  place: ProductPlace<T>,
): void {
  if (b.rows === 0) recorder.fill(c, 0, { label: `${place.label} zero` })
  else
    for (const part of parts) {
      const rows = c.block(part.row - parts[0]!.row, 0, part.rows, c.columns)
      recordRows(recorder, kernels, part, b, rows, place)
    }
}

function recordRows<T extends MatmulType>(
  recorder: Recorder,
  kernels: MatmulKernels,
  { view, transposed }: LeftPart<T>,
  b: BufferView<T>,
  c: BufferView<T>,
  { device, label, sums }: ProductPlace<T>,
): void {
  const { blocking } = kernels
  const k = b.rows
  const m = c.rows
  const n = c.columns
  const chunk = blocking.parts === 1 ? k : Math.ceil(k / blocking.parts / 8) * 8
  const parts = Math.ceil(k / chunk)
  const target =
    parts === 1
      ? c
      : (sums?.block(0, 0, parts * m, n) ??
        recorder.scratch(device.ordinal, kernels.type, [parts * m, n], { label: `${label} parts` }))
  const vector =
    wide(b) &&
    wideRows(target) &&
    (blocking.body === 'transposed'
      ? transposed !== undefined
      : wide(view) && (blocking.body === 'tiled' || view.columns % 4 === 0))
  recorder.dispatch(vector ? kernels.vector : kernels.scalar, {
    device: device.ordinal,
    workgroups: [
      ...foldWorkgroups(Math.ceil(m / blocking.tileRows) * Math.ceil(n / blocking.tileColumns), device),
      parts,
    ],
    args: { a: (vector && transposed) || view, b, c: target, m, n, k, k_chunk: chunk },
    label,
  })
  if (parts === 1) return
  recorder.dispatch(kernels.sumOfParts!, {
    device: device.ordinal,
    workgroups: foldWorkgroups(Math.ceil(m / 4) * Math.ceil(n / 64), device),
    args: { partial: target, c, m, n, parts },
    label: `${label} sum of parts`,
  })
}

/** Whether rows start at multiples of four elements. */
const wide = (view: BufferView) => view.offset % 4 === 0 && (view.stride % 4 === 0 || view.rows === 1)

/** Whether rows start at multiples of four elements and have a multiple of four columns. */
const wideRows = (view: BufferView) => wide(view) && view.columns % 4 === 0

/** Options of `recordShardedMatmul`. */
export interface RecordShardedOptions {
  label?: string | undefined
  /**
   * The number of columns of B that are gathered and multiplied at a time. The gathering of one panel
   * overlaps the product of another. Default: depends on the size.
   */
  panelColumns?: number | undefined
}

/**
 * Records C = A · B on the devices that hold the slices: each copies all of B, in panels of columns, from the
 * devices that hold its rows, and multiplies its rows of A. A and C have equal slices. A may have more
 * columns than B has rows, up to a multiple of four; these are padding, whose contents do not matter. Throws
 * `validation` for other sizes. If one device holds all of B and it fits a binding, nothing is gathered.
 */
export function recordShardedMatmul<T extends MatmulType>(
  recorder: Recorder,
  kernels: (device: Device) => MatmulKernels,
  a: ShardedMatrix<T>,
  b: ShardedMatrix<T>,
  c: ShardedMatrix<T>,
  options: RecordShardedOptions = {},
): void {
  const label = options.label ?? 'matmul'
  for (const [name, matrix] of Object.entries({ A: a, B: b, C: c })) requireMatrix(matrix, name)
  const mostColumns = Math.ceil(b.rows / 4) * 4
  if (a.columns < b.rows || a.columns > mostColumns || a.rows !== c.rows || b.columns !== c.columns)
    throw new GpuError(
      'validation',
      `Matmul of ${a.rows} × ${a.columns} by ${b.rows} × ${b.columns} into ${c.rows} × ${c.columns}: the inner sizes must be equal, except for columns that pad A to a multiple of four, and the outer sizes must be those of the result.`,
    )
  for (const [index, slice] of a.slices.entries())
    if (c.slices[index]?.rows !== slice.rows || c.slices[index]?.device !== slice.device)
      throw new GpuError(
        'validation',
        `Slice ${index} of A has ${slice.rows} rows, but slice ${index} of C has ${c.slices[index]?.rows}: A and C must have equal slices.`,
      )
  const n = b.columns
  const working = a.slices.flatMap((slice, index) =>
    slice.rows > 0 ? [{ slice, target: c.slices[index]! }] : [],
  )
  const holders = b.slices.filter((slice) => slice.rows > 0)
  const ownHolders = holders.filter((holder) => recorder.touches(holder.device.ordinal))
  const only = holders.length === 1 ? holders[0]! : undefined
  const gathering: GatheringSlice<T>[] = []
  for (const { slice, target } of working) {
    const { device } = slice
    // A process that does not compute this slice sends its part of B.
    const computes = recorder.touches(device.ordinal)
    const sent = computes ? holders : ownHolders
    if (!computes && sent.length === 0) continue
    const limit = bindableByteLength(device)
    const local = only?.device === device && byteSpan(only.view) <= limit ? only.view : undefined
    if (local || holders.length === 0) {
      if (local)
        recordPaddedMatmul(recorder, kernels(device), slice.view, local, target.view, { device, label })
      else recorder.fill(target.view, 0, { label: `${label} zero` })
      continue
    }
    const width = Math.min(
      options.panelColumns ?? panelColumns(b.rows, n),
      4 * Math.floor(limit / 16 / b.rows),
    )
    if (width < 1)
      throw new GpuError(
        'too-large',
        `Four columns of B, ${b.rows} × 4 elements, exceed the ${limit} bytes that a kernel can bind on ${device.info.name}.`,
      )
    const multiply = computes
      ? panelProducts(recorder, kernels(device), slice, target, { k: b.rows, width, label })
      : undefined
    gathering.push({ device, width, sent, multiply })
  }
  // Panels are recorded one at a time for all devices, so that one exchange can carry everything that a
  // process sends and receives for a panel.
  const panelCount = Math.max(0, ...gathering.map(({ width }) => Math.ceil(n / width)))
  for (let index = 0; index < panelCount; index++) {
    const gathered = gathering.flatMap(({ device, width, sent, multiply }) => {
      const column = index * width
      if (column >= n) return []
      const columns = Math.min(width, n - column)
      const panel = recorder.scratch(device, b.type, [b.rows, columns], { label: `${label} B panel` })
      for (const part of sent)
        recorder.copy(
          part.view.block(0, column, part.rows, columns),
          panel.block(part.row, 0, part.rows, columns),
          { label: `${label} gather B` },
        )
      return multiply === undefined ? [] : [() => multiply(panel, column)]
    })
    for (const multiply of gathered) multiply()
  }
}

interface GatheringSlice<T extends MatmulType> {
  readonly device: Device
  /** The number of columns of a panel. */
  readonly width: number
  /** The slices of B that this process sends, or that the device copies. */
  readonly sent: ShardedMatrix<T>['slices']
  /** Absent if another process computes. */
  readonly multiply: PanelProduct<T> | undefined
}

/** Records the product with a panel of B that begins at `column`. */
type PanelProduct<T extends MatmulType> = (panel: BufferView<T>, column: number) => void

/** Prepares a slice of A for its products with panels of B. */
function panelProducts<T extends MatmulType>(
  recorder: Recorder,
  kernels: MatmulKernels,
  slice: ShardedMatrix<T>['slices'][number],
  target: ShardedMatrix<T>['slices'][number],
  { k, width, label }: { readonly k: number; readonly width: number; readonly label: string },
): PanelProduct<T> {
  requireKernels(kernels)
  const { split, blocking } = kernels
  const place = { device: slice.device, label }
  const result = (panel: BufferView<T>, column: number) =>
    target.view.block(0, column, target.rows, panel.columns)
  if (split !== undefined) {
    const rows = recordSplitRows(recorder, split, slice.view as unknown as BufferView<'f32'>, k, place)
    return (panel, column) => {
      const columns = recordSplitColumns(recorder, split, panel as unknown as BufferView<'f32'>, place)
      const part = result(panel, column) as unknown as BufferView<'f32'>
      recordSplitProduct(recorder, split, blocking, rows, columns, part, place)
    }
  }
  const left = leftRows(recorder, kernels, slice.view, {
    device: slice.device,
    label,
    k,
    cStride: target.view.stride,
    needed: wideRows(target.view) && width % 4 === 0,
  })
  left.arrive(0, slice.rows)
  return (panel, column) =>
    recordLeftMatmul(recorder, kernels, left.parts(0, slice.rows), panel, result(panel, column), place)
}

/** Bytes from a view's first element to its last. */
function byteSpan(view: BufferView): number {
  return view.length === 0 ? 0 : ((view.rows - 1) * view.stride + view.columns) * 4
}

function requireKernels(kernels: MatmulKernels): void {
  requireResult(
    kernels,
    'blocking',
    'The argument kernels of a product',
    'a value that compileMatmul returned',
  )
}
