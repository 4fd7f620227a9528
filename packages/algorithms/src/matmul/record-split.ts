import { type BufferView, type Device, foldWorkgroups, GpuError, type Recorder } from '@tandem-gpu/core'
import { bindingLimit } from './left-rows.ts'
import type { MatmulBlocking } from './matmul-kernels.ts'
import { type AccessKernels, type SplitKernels, splitTile } from './split-kernels.ts'

interface Place {
  readonly device: Device
  readonly label: string
}

/** The f16 parts of a matrix in scratch memory: the high ones above the low ones, both padded to whole tiles, and the extremes of its rows or columns. */
export interface SplitOperand {
  readonly view: BufferView<'f32'>
  readonly parts: BufferView<'u32'>
  readonly extremes: BufferView<'u32'>
}

const up = (value: number, multiple: number) => Math.ceil(value / multiple) * multiple

/** Whether rows start at multiples of four elements. */
const wide = (view: BufferView) => view.offset % 4 === 0 && (view.stride % 4 === 0 || view.rows === 1)

const isVector = (view: BufferView) => wide(view) && view.columns % 4 === 0

const chosen = (kernels: AccessKernels, view: BufferView) =>
  isVector(view) ? kernels.vector : kernels.scalar

function operand(
  recorder: Recorder,
  view: BufferView<'f32'>,
  rows: number,
  columns: number,
  lines: number,
  { device, label }: Place,
): SplitOperand {
  const byteLength = rows * 2 * columns * 2
  if (byteLength + 256 > Math.min(bindingLimit(device), device.limits.maxBufferByteLength))
    throw new GpuError(
      'too-large',
      `The f16 parts of ${rows} × ${columns} elements take ${byteLength} bytes, more than one binding holds on ${device.info.name}.`,
    )
  return {
    view,
    parts: recorder.scratch(device.ordinal, 'u32', [2 * rows, columns / 2], { label: `${label} parts` }),
    extremes: recorder.scratch(device.ordinal, 'u32', lines * 2, { label: `${label} extremes` }),
  }
}

/** The scalars of the kernels that split: the size of the matrix, that of its parts, and where the low ones begin. */
function sizes(rows: number, columns: number, { parts }: SplitOperand) {
  return {
    rows,
    columns,
    part_rows: parts.rows / 2,
    part_columns: parts.columns * 2,
    low: ((parts.rows / 2) * parts.stride) / 4,
  }
}

/** Records the splitting of `a`, m × k; its columns from `k` on are padding. */
export function recordSplitRows(
  recorder: Recorder,
  kernels: SplitKernels,
  a: BufferView<'f32'>,
  k: number,
  { device, label }: Place,
): SplitOperand {
  const rows = up(a.rows, splitTile.rows)
  const place = { device, label: `${label} A` }
  const split = operand(recorder, a, rows, up(k, splitTile.window), rows, place)
  recorder.dispatch(chosen(kernels.rows, a), {
    device: device.ordinal,
    workgroups: foldWorkgroups(rows, device),
    args: { x: a, parts: split.parts, extremes: split.extremes, ...sizes(a.rows, k, split) },
    label: `${label} split A`,
  })
  return split
}

/** Records the splitting of `b`, k × n. */
export function recordSplitColumns(
  recorder: Recorder,
  kernels: SplitKernels,
  b: BufferView<'f32'>,
  { device, label }: Place,
): SplitOperand {
  const rows = up(b.rows, splitTile.window)
  const columns = up(b.columns, splitTile.columns)
  const split = operand(recorder, b, rows, columns, columns, { device, label: `${label} B` })
  recorder.fill(split.extremes, 0, { label: `${label} extremes of B` })
  const args = { x: b, extremes: split.extremes, ...sizes(b.rows, b.columns, split) }
  recorder.dispatch(chosen(kernels.extremes, b), {
    device: device.ordinal,
    workgroups: [Math.ceil(b.columns / 256), Math.ceil(b.rows / 16), 1],
    args: { ...args, parts_base: 0, parts_stride: 0 },
    label: `${label} extremes of B`,
  })
  recorder.dispatch(chosen(kernels.columns, b), {
    device: device.ordinal,
    workgroups: [Math.ceil(columns / 128), Math.ceil(rows / 64), 1],
    args: { ...args, parts: split.parts },
    label: `${label} split B`,
  })
  return split
}

/**
 * Records C = A · B from the parts, and behind it the kernel that makes in f32 what the parts cannot give. `blocking` is that of the f32 kernels: an
 * element that is made in f32 has their bits.
 */
export function recordSplitProduct(
  recorder: Recorder,
  kernels: SplitKernels,
  blocking: MatmulBlocking,
  a: SplitOperand,
  b: SplitOperand,
  c: BufferView<'f32'>,
  { device, label }: Place,
): void {
  const [m, n, k] = [c.rows, c.columns, b.view.rows]
  const tiles = Math.ceil(m / splitTile.rows) * Math.ceil(n / splitTile.columns)
  const flags = recorder.scratch(device.ordinal, 'u32', tiles, { label: `${label} flags` })
  recorder.fill(flags, 0, { label: `${label} flags` })
  const depth = Math.ceil(Math.log2(Math.max(1, k)))
  const extremes = { row_extremes: a.extremes, column_extremes: b.extremes, flags }
  recorder.dispatch(chosen(kernels.product, c), {
    device: device.ordinal,
    workgroups: foldWorkgroups(tiles, device),
    args: {
      ...{ a: a.parts, b: b.parts, c, ...extremes, m, n, depth },
      windows: b.parts.rows / 2 / splitTile.window,
      a_low: ((a.parts.rows / 2) * a.parts.stride) / 4,
      b_low: ((b.parts.rows / 2) * b.parts.stride) / 4,
    },
    label,
  })
  recorder.dispatch(kernels.remainder, {
    device: device.ordinal,
    workgroups: foldWorkgroups(tiles, device),
    args: {
      ...{ a: a.view, b: b.view, c, ...extremes, m, n, k, depth },
      k_chunk: blocking.parts === 1 ? k : Math.ceil(k / blocking.parts / 8) * 8,
    },
    label: `${label} remainder`,
  })
}
