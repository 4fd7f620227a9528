import {
  type BufferView,
  blocked,
  type DeviceGroup,
  dispatchBlocks,
  GpuError,
  type Recorder,
} from '@tandem-gpu/core'
import { requireResult } from '../require-result.ts'
import { type BlockKernel, leafLength, type ReductionKernels } from './reduction-kernels.ts'

/** Options of `recordReduction`. */
export interface RecordReductionOptions {
  readonly kernels: ReductionKernels
  /**
   * Consecutive parts of the input, on any devices; each but the last non-empty one holds a multiple of
   * `leafLength` elements.
   */
  readonly input: readonly BufferView[]
  /** One element, on the device that merges the partial results. */
  readonly output: BufferView
}

/**
 * Records `output[0] = combine(input)`. Each device reduces the blocks of its part; the device of `output`
 * collects the partial results in the order of the input and reduces them by repeated launches between two
 * buffers until one is left. Blocks, and the tree above them, are fixed in global coordinates, so the bits do
 * not depend on the number of devices. Devices with peer access write their partial results to that device;
 * the results of others are copied.
 */
export function recordReduction(
  recorder: Recorder,
  group: DeviceGroup,
  options: RecordReductionOptions,
): void {
  const { kernels, output } = options
  requireResult(kernels, 'general', 'The option kernels', 'a value that compileReduction returned')
  const parts = options.input.filter((view) => view.length > 0)
  requireParts(kernels, parts, output)
  if (parts.length === 0) {
    recorder.fill(output, identityValue(kernels), { label: 'reduce nothing' })
    return
  }
  if (kernels.atomic) recordAtomic(recorder, kernels.atomic, kernels.operation, parts, output)
  else recordBlocks(recorder, group, kernels, parts, output)
}

/** The result for no elements: 0, or the identity of minimum and maximum. */
export function identityValue(kernels: Pick<ReductionKernels, 'operation' | 'type'>): number {
  const { operation, type } = kernels
  if (operation === 'sum') return 0
  const [low, high] = {
    f32: [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
    i32: [-2147483648, 2147483647],
    u32: [0, 4294967295],
  }[type] as [number, number]
  return operation === 'min' ? high : low
}

function recordBlocks(
  recorder: Recorder,
  group: DeviceGroup,
  kernels: ReductionKernels,
  parts: readonly BufferView[],
  output: BufferView,
): void {
  const { blockLength } = kernels.general
  const home = output.buffer.device.ordinal
  const blockCounts = parts.map((part) => Math.ceil(part.length / blockLength))
  const total = blockCounts.reduce((sum, count) => sum + count, 0)
  let current: BufferView =
    total === 1 ? output : recorder.scratch(home, kernels.type, total, { label: 'partials' })

  let first = 0
  for (const [index, part] of parts.entries()) {
    const ordinal = part.buffer.device.ordinal
    const count = blockCounts[index]!
    const place = current.slice(first, count)
    first += count
    if (!recorder.touches(ordinal, home)) continue
    if (group.canAccessPeer(ordinal, home)) {
      recordLevel(recorder, kernels, ordinal, part, place, 'reduce slice')
      continue
    }
    const local = recorder.scratch(ordinal, kernels.type, count, { label: `partials ${ordinal}` })
    recordLevel(recorder, kernels, ordinal, part, local, 'reduce slice')
    recorder.copy(local, place, { label: 'gather partials' })
  }

  if (!recorder.touches(home)) return

  // Two buffers alternate: each level is at most as large as the level two before it.
  const buffers: BufferView[] = []
  for (let level = 0; current !== output; level++) {
    const count = Math.ceil(current.length / blockLength)
    let next: BufferView = output
    if (count > 1) {
      buffers[level % 2] ??= recorder.scratch(home, kernels.type, count, {
        label: `partials ${'ab'[level % 2]}`,
      })
      next = buffers[level % 2]!.slice(0, count)
    }
    recordLevel(recorder, kernels, home, current, next, `merge ${current.length} partials`)
    current = next
  }
}

/**
 * Reduces each block of `source` to one value in `target`, with the aligned kernel for as many whole blocks
 * as there are.
 */
function recordLevel(
  recorder: Recorder,
  kernels: ReductionKernels,
  ordinal: number,
  source: BufferView,
  target: BufferView,
  label: string,
): void {
  const { aligned, general } = kernels
  const whole = Math.floor(source.length / general.blockLength)
  if (aligned && whole > 0 && source.offset % 4 === 0) {
    const length = whole * general.blockLength
    recordBlockKernel(recorder, aligned, ordinal, source.slice(0, length), target.slice(0, whole), label)
    if (length < source.length)
      recordBlockKernel(
        recorder,
        general,
        ordinal,
        source.slice(length, source.length - length),
        target.slice(whole, 1),
        `${label}, ragged leaf`,
      )
    return
  }
  recordBlockKernel(recorder, general, ordinal, source, target, label)
}

/** One value in `target` for each block of `source`; with `single`, one value for all. */
function recordBlockKernel(
  recorder: Recorder,
  { kernel, blockLength, blocksPerWorkgroup }: BlockKernel,
  ordinal: number,
  source: BufferView,
  target: BufferView,
  label: string,
  single = false,
): void {
  dispatchBlocks(recorder, kernel, {
    device: ordinal,
    blocks: Math.ceil(source.length / blockLength),
    blocksPerWorkgroup,
    args: { input: blocked(source, blockLength), output: single ? target : blocked(target, 1) },
    label,
  })
}

function recordAtomic(
  recorder: Recorder,
  { count, merge }: NonNullable<ReductionKernels['atomic']>,
  operation: ReductionKernels['operation'],
  parts: readonly BufferView[],
  output: BufferView,
): void {
  const home = output.buffer.device.ordinal
  const gathered = recorder.scratch(home, 'u32', parts.length, { label: 'counters' })
  // The counters hold keys, not values; this key is the identity.
  const start = operation === 'min' ? 0xffffffff : 0
  for (const [index, part] of parts.entries()) {
    const ordinal = part.buffer.device.ordinal
    if (!recorder.touches(ordinal, home)) continue
    const place = gathered.slice(index, 1)
    const counter = ordinal === home ? place : recorder.scratch(ordinal, 'u32', 1, { label: 'counter' })
    recorder.fill(counter, start, { label: 'clear counter' })
    recordBlockKernel(recorder, count, ordinal, part, counter, 'count slice', true)
    if (counter !== place) recorder.copy(counter, place, { label: 'gather counter' })
  }
  recordBlockKernel(recorder, merge, home, gathered, output, 'merge counters')
}

function requireParts(kernels: ReductionKernels, parts: readonly BufferView[], output: BufferView): void {
  if (output.length !== 1)
    throw new GpuError('validation', `The output of a reduction must have 1 element, not ${output.length}.`)
  if (output.buffer.type !== kernels.type)
    throw new GpuError(
      'validation',
      `The output has type ${output.buffer.type}, but the reduction has type ${kernels.type}.`,
    )
  for (const [index, part] of parts.entries()) {
    if (part.buffer.type !== kernels.type)
      throw new GpuError(
        'validation',
        `Part ${index} of the input has type ${part.buffer.type}, but the reduction has type ${kernels.type}.`,
      )
    if (index < parts.length - 1 && part.length % leafLength !== 0)
      throw new GpuError(
        'validation',
        `Part ${index} of the input holds ${part.length} elements: every part but the last needs a multiple of ${leafLength}, so that the result does not depend on the parts.`,
      )
  }
}
