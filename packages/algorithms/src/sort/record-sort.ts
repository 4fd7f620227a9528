import { type BufferView, type DeviceGroup, GpuError, type Recorder } from '@tandem-gpu/core'
import { requireParts } from '../require-parts.ts'
import { invalid, requireResult } from '../require-result.ts'
import { recordExchange } from './record-exchange.ts'
import { type KeyViews, recordLocalSort } from './record-local-sort.ts'
import {
  type PartedSort,
  recordPartition,
  recordSlices,
  recordSplitters,
  type SortPart,
} from './record-partition.ts'
import type { SortKernels } from './sort-kernels.ts'

/** Options of `recordSort`. */
export interface RecordSortOptions {
  readonly kernels: SortKernels
  /** Consecutive parts of the input, each on a different device. */
  readonly input: readonly BufferView[]
  /** Parts of the same lengths as those of the input, on the same devices, in other buffers. */
  readonly output: readonly BufferView[]
  /** Parts like those of the input. Required if the kernels were compiled for given values. */
  readonly values?: readonly BufferView[] | undefined
  /** Parts like those of the output. Required if the kernels were compiled for given values or indices. */
  readonly sortedValues?: readonly BufferView[] | undefined
  /** Default false. */
  readonly descending?: boolean | undefined
}

/**
 * Records a stable sort: equal elements keep their order, both ascending and descending. Over several
 * devices, partitioning precedes sorting, so that each element moves between devices once (Ilic, Tolovski and
 * Rabl, RMG Sort: Radix-partitioning-based multi-GPU sorting, BTW 2023). Throws `unsupported` if some of the
 * parts' devices cannot access each other's memory; `sort` runs two programs in that case.
 */
export function recordSort(recorder: Recorder, group: DeviceGroup, options: RecordSortOptions): void {
  const { kernels } = options
  requireResult(kernels, 'firstScatter', 'The option kernels', 'a value that compileSort returned')
  const sort = partedSort(options)
  const { parts, descending } = sort
  if (parts.length <= 1) {
    for (const { source, target, first } of parts)
      recordLocalSort(recorder, {
        ...{ kernels, descending, source, target },
        ...(kernels.values === 'indices' && { firstIndex: first }),
      })
    return
  }
  requireSeveral(sort)
  if (!reachAll(group, parts))
    throw new GpuError(
      'unsupported',
      "Some of these devices cannot access each other's memory, so the amount of data that they exchange depends on the keys and is not known when the program is recorded. Call sort, which runs two programs.",
    )
  const staged = parts.map(
    ({ ordinal, length, target }): KeyViews => ({
      keys: recorder.scratch(ordinal, kernels.type, length, { label: 'staged keys' }),
      values:
        target.values && recorder.scratch(ordinal, kernels.valueType, length, { label: 'staged values' }),
    }),
  )
  // 1. The keys at which the devices' slices of the result begin.
  const splitters = recordSplitters(recorder, group, sort)
  // 2. Each device orders its keys by the slices that they belong to.
  const totals = recordPartition(recorder, sort, splitters, staged)
  // 3. Each device writes its keys to the outputs of the devices of their slices.
  recordExchange(recorder, sort, totals, staged)
  // 4. Each device sorts its slice.
  recordSlices(recorder, sort, staged)
}

/** Throws `unsupported` if there are more parts than a pass has digits, or than a dispatch has ranks. */
export function requireSeveral({ kernels: { form, several }, parts }: PartedSort): void {
  if (several === undefined) throw invalid('The kernels of the sort were compiled for a group of one device.')
  const most = Math.min(16, 2 ** (form.bits - 1))
  if (parts.length > most)
    throw new GpuError('unsupported', `A sort can use at most ${most} devices, not ${parts.length}.`)
}

/** Whether every device can access the memory of every other device. */
export function reachAll(group: DeviceGroup, parts: readonly SortPart[]): boolean {
  return parts.every(({ ordinal }) => parts.every((other) => group.canAccessPeer(ordinal, other.ordinal)))
}

/**
 * The sort of the parts that are not empty. Throws `validation` if the parts do not match, `too-large` if
 * 32-bit indices are too short for all elements.
 */
export function partedSort(options: RecordSortOptions): PartedSort {
  const { kernels, input, output, values, sortedValues, descending = false } = options
  const { type, valueType } = kernels
  const [given, moved] = [kernels.values === 'given', kernels.values !== 'none']
  requireParts(input, {
    ...{ input: { views: input, type }, output: { views: output, type } },
    ...(given && { values: { views: values, type: valueType } }),
    ...(moved && { sortedValues: { views: sortedValues, type: valueType } }),
  })
  const parts: SortPart[] = []
  let first = 0
  for (const [index, keys] of input.entries()) {
    const { length } = keys
    if (length === 0) continue
    const { ordinal } = keys.buffer.device
    if (parts.some((part) => part.ordinal === ordinal))
      throw invalid(`A sort needs at most one part on each device; device ${ordinal} has two.`)
    const source = { keys, values: given ? values![index] : undefined }
    const target = { keys: output[index]!, values: moved ? sortedValues![index] : undefined }
    parts.push({ ordinal, first, length, source, target })
    first += length
  }
  if (first > 4294967295)
    throw new GpuError('too-large', `A sort can have at most 4294967295 elements, not ${first}.`)
  return { kernels, parts, descending }
}
