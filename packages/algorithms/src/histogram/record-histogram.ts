import {
  type BufferView,
  bindableByteLength,
  foldWorkgroups,
  GpuError,
  type Recorder,
  ranges,
} from '@tandem-gpu/core'
import { requireParts } from '../require-parts.ts'
import { invalid, requireResult } from '../require-result.ts'
import { copiesOf, type HistogramKernels } from './histogram-kernels.ts'

/** Options of `recordHistogram`. */
export interface RecordHistogramOptions {
  readonly kernels: HistogramKernels
  /** Parts of the input, on any devices, with at most 2^32 - 1 elements in all. */
  readonly input: readonly BufferView[]
  /** A count for each bin, then the counts of elements outside the bins and of NaN. */
  readonly output: BufferView<'u32'>
}

/**
 * The maximum number of workgroups in one dispatch: several times as many as a GPU runs at once, but few
 * enough that each range is long compared with the additions at its end.
 */
const mostWorkgroups = 2048

/** Elements of a range are a multiple of this. */
const rangeUnit = 4096

/**
 * Records the counts of the input's elements in each bin. Each device counts its part in its own memory,
 * since atomic additions are not atomic between devices, and the device of `output` adds these counts. Counts
 * are exact.
 */
export function recordHistogram(recorder: Recorder, options: RecordHistogramOptions): void {
  const { kernels, output } = options
  requireResult(kernels, 'addRows', 'The option kernels', 'a value that compileHistogram returned')
  const bins = kernels.bins.edges.length - 1
  const parts = options.input.filter(({ length }) => length > 0)
  requireParts(parts, { input: { views: parts, type: kernels.type } })
  requireSizes(parts, output, bins)
  const home = output.buffer.device.ordinal
  const ordinals = [...new Set(parts.map(({ buffer }) => buffer.device.ordinal))]
  if (ordinals.every((ordinal) => ordinal === home)) {
    recordCounts(recorder, kernels, parts, output)
    return
  }
  const rows = recorder.scratch(home, 'u32', [ordinals.length, bins + 2], { label: 'counts of all' })
  for (const [index, ordinal] of ordinals.entries()) {
    if (!recorder.touches(ordinal, home)) continue
    const place = rows.block(index, 0, 1, bins + 2)
    const local =
      ordinal === home ? place : recorder.scratch(ordinal, 'u32', bins + 2, { label: `counts ${ordinal}` })
    const own = parts.filter(({ buffer }) => buffer.device.ordinal === ordinal)
    recordCounts(recorder, kernels, own, local)
    if (local !== place) recorder.copy(local, place, { label: 'gather counts' })
  }
  if (!recorder.touches(home)) return
  recorder.dispatch(kernels.addRows, {
    device: home,
    workgroups: foldWorkgroups(Math.ceil((bins + 2) / 64), recorder.devices[home]!),
    args: { rows, counts: output },
    label: 'add counts',
  })
}

/** The counts of one device's parts, in its memory. */
function recordCounts(
  recorder: Recorder,
  kernels: HistogramKernels,
  parts: readonly BufferView[],
  counts: BufferView<'u32'>,
): void {
  const { ordinal } = counts.buffer.device
  const device = recorder.devices[ordinal]!
  if (!recorder.touches(ordinal)) return
  recorder.fill(counts, 0, { label: 'clear counts' })
  const { edges, reachable, guess } = kernels.bins
  const bins = edges.length - 1
  for (const part of parts)
    for (const { first, count } of ranges(part.length, Math.floor(bindableByteLength(device) / 4))) {
      const workgroups = Math.min(mostWorkgroups, Math.ceil(count / rangeUnit))
      const range = Math.ceil(count / workgroups / rangeUnit) * rangeUnit
      recorder.dispatch(kernels.count, {
        device: ordinal,
        workgroups: foldWorkgroups(Math.ceil(count / range), device),
        args: {
          ...{ input: part.slice(first, count), edges: kernels.edges[ordinal]!, counts },
          ...{ bins, reachable, range, copies: copiesOf(bins), ...guess },
        },
        label: 'count',
      })
    }
}

function requireSizes(parts: readonly BufferView[], output: BufferView, bins: number): void {
  if (output.length !== bins + 2 || output.buffer.type !== 'u32')
    throw invalid(
      `The output of a histogram of ${bins} bins is ${bins + 2} u32, not ${output.length} ${output.buffer.type}.`,
    )
  const elements = parts.reduce((sum, { length }) => sum + length, 0)
  if (elements > 4294967295)
    throw new GpuError(
      'too-large',
      `The counts of a histogram have 32 bits, so it can have at most 4294967295 elements, not ${elements}.`,
    )
}
