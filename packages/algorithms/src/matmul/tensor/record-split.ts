import {
  type BufferView,
  bindableByteLength,
  type Device,
  foldWorkgroups,
  GpuError,
  type Recorder,
} from '@tandem-gpu/core'
import type { MatmulBlocking } from '../single/matmul-kernels.ts'
import { type AccessKernels, type SplitKernels, splitTile, splitWindows } from './split-kernels.ts'

/** The device of a computation, and its name in plans. */
export interface Place {
  readonly device: Device
  readonly label: string
}

/**
 * Memory for the f16 parts of a matrix, padded to whole tiles, with the high parts of a row before its low
 * parts, and for the extremes of its rows or columns.
 */
export interface SplitMemory {
  readonly parts: BufferView<'u32'>
  readonly extremes: BufferView<'u32'>
}

/** A matrix and its parts. */
export interface SplitOperand extends SplitMemory {
  readonly view: BufferView<'f32'>
}

const up = (value: number, multiple: number) => Math.ceil(value / multiple) * multiple

/** Whether rows start at multiples of four elements. */
const wide = (view: BufferView) => view.offset % 4 === 0 && (view.stride % 4 === 0 || view.rows === 1)

const isVector = (view: BufferView) => wide(view) && view.columns % 4 === 0

const chosen = (kernels: AccessKernels, view: BufferView) =>
  isVector(view) ? kernels.vector : kernels.scalar

function allocate(
  recorder: Recorder,
  rows: number,
  columns: number,
  lines: number,
  { device, label }: Place,
): SplitMemory {
  const byteLength = rows * 2 * columns * 2
  if (byteLength > Math.min(bindableByteLength(device), device.limits.maxBufferByteLength))
    throw new GpuError(
      'too-large',
      `The f16 parts of ${rows} × ${columns} elements take ${byteLength} bytes, more than one binding may have on ${device.info.name}.`,
    )
  return {
    parts: recorder.scratch(device.ordinal, 'u32', [rows, columns], { label: `${label} parts` }),
    extremes: recorder.scratch(device.ordinal, 'u32', lines * 2, { label: `${label} extremes` }),
  }
}

/** Memory for the parts of `rows` rows of A. */
export function splitRowsMemory(recorder: Recorder, rows: number, k: number, place: Place): SplitMemory {
  const padded = up(rows, splitTile.rows)
  return allocate(recorder, padded, up(k, splitTile.depth), padded, {
    ...place,
    label: `${place.label} A`,
  })
}

/** Memory for the parts of `columns` columns of B. */
export function splitColumnsMemory(
  recorder: Recorder,
  k: number,
  columns: number,
  place: Place,
): SplitMemory {
  const padded = up(columns, splitTile.columns)
  return allocate(recorder, up(k, splitTile.depth), padded, padded, { ...place, label: `${place.label} B` })
}

/** The memory of some rows of A; `row` is a multiple of a tile's rows. */
export function splitRowsBlock({ parts, extremes }: SplitMemory, row: number, rows: number): SplitMemory {
  const padded = up(rows, splitTile.rows)
  return {
    parts: parts.block(row, 0, padded, parts.columns),
    extremes: extremes.slice(row * 2, padded * 2),
  }
}

/** The memory of the first columns of B. */
export function splitColumnsBlock({ parts, extremes }: SplitMemory, columns: number): SplitMemory {
  const padded = up(columns, splitTile.columns)
  return { parts: parts.block(0, 0, parts.rows, padded), extremes: extremes.slice(0, padded * 2) }
}

/** The offset of a row's low parts from its high parts, in elements of a kernel's binding. */
const lowOffset = ({ parts }: SplitMemory) => parts.columns / 8

/**
 * The scalars of the kernels that split: the size of the matrix, the size of its parts, and the offset of the
 * low parts.
 */
function sizes(rows: number, columns: number, memory: SplitMemory) {
  const { parts } = memory
  return { rows, columns, part_rows: parts.rows, part_columns: parts.columns, low: lowOffset(memory) }
}

/** Records the splitting of `a`, m × k; its columns from `k` on are padding. */
export function recordSplitRows(
  recorder: Recorder,
  kernels: SplitKernels,
  a: BufferView<'f32'>,
  k: number,
  place: Place,
  memory: SplitMemory = splitRowsMemory(recorder, a.rows, k, place),
): SplitOperand {
  const { device, label } = place
  recorder.dispatch(chosen(kernels.rows, a), {
    device: device.ordinal,
    workgroups: foldWorkgroups(memory.parts.rows, device),
    args: { x: a, ...memory, ...sizes(a.rows, k, memory) },
    label: `${label} split A`,
  })
  return { view: a, ...memory }
}

/** Records the splitting of `b`, k × n. */
export function recordSplitColumns(
  recorder: Recorder,
  kernels: SplitKernels,
  b: BufferView<'f32'>,
  place: Place,
  memory: SplitMemory = splitColumnsMemory(recorder, b.rows, b.columns, place),
): SplitOperand {
  const { device, label } = place
  const { parts, extremes } = memory
  recorder.fill(extremes, 0, { label: `${label} extremes of B` })
  const args = { x: b, extremes, ...sizes(b.rows, b.columns, memory) }
  recorder.dispatch(chosen(kernels.extremes, b), {
    device: device.ordinal,
    workgroups: [Math.ceil(b.columns / 256), Math.ceil(b.rows / 64), 1],
    args: { ...args, parts_base: 0, parts_stride: 0 },
    label: `${label} extremes of B`,
  })
  recorder.dispatch(chosen(kernels.columns, b), {
    device: device.ordinal,
    workgroups: [Math.ceil(parts.columns / 128), Math.ceil(parts.rows / 64), 1],
    args: { ...args, parts },
    label: `${label} split B`,
  })
  return { view: b, ...memory }
}

const tilesOf = (rows: number, columns: number) =>
  Math.ceil(rows / splitTile.rows) * Math.ceil(columns / splitTile.columns)

/** A word for each tile of a result: how many of its elements are computed in f32. */
export function splitFlags(recorder: Recorder, rows: number, columns: number, { device, label }: Place) {
  return recorder.scratch(device.ordinal, 'u32', tilesOf(rows, columns), { label: `${label} flags` })
}

/**
 * Records C = A · B from the parts, followed by the kernel that computes in f32 those elements for which the
 * parts are not sufficient. `blocking` is that of the f32 kernels, whose bits these elements have. `flags`
 * has a word for each tile of C.
 */
export function recordSplitProduct(
  recorder: Recorder,
  kernels: SplitKernels,
  blocking: MatmulBlocking,
  a: SplitOperand,
  b: SplitOperand,
  c: BufferView<'f32'>,
  place: Place,
  memory: BufferView<'u32'> = splitFlags(recorder, c.rows, c.columns, place),
): void {
  const { device, label } = place
  const [m, n, k] = [c.rows, c.columns, b.view.rows]
  const tiles = tilesOf(m, n)
  const flags = memory.slice(0, tiles)
  recorder.fill(flags, 0, { label: `${label} flags` })
  const depth = Math.ceil(Math.log2(Math.max(1, k)))
  const windows = splitWindows(k)
  const extremes = { row_extremes: a.extremes, column_extremes: b.extremes, flags }
  recorder.dispatch(chosen(kernels.product, c), {
    device: device.ordinal,
    workgroups: foldWorkgroups(tiles, device),
    args: {
      a: a.parts,
      b: b.parts,
      c,
      ...extremes,
      m,
      n,
      depth,
      k: b.parts.rows,
      first_window: windows.first,
      window: windows.next,
      a_low: lowOffset(a),
      b_low: lowOffset(b),
    },
    label,
  })
  recorder.dispatch(kernels.remainder, {
    device: device.ordinal,
    workgroups: foldWorkgroups(tiles, device),
    args: {
      a: a.view,
      b: b.view,
      c,
      ...extremes,
      m,
      n,
      k,
      depth,
      k_chunk: blocking.parts === 1 ? k : Math.ceil(k / blocking.parts / 8) * 8,
    },
    label: `${label} remainder`,
  })
}
