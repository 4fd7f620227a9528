import { type BufferView, type DeviceGroup, GpuError, type Recorder } from '@tandem-gpu/core'
import { requireParts } from '../require-parts.ts'
import { invalid, requireResult } from '../require-result.ts'
import { recordExchange } from './record-exchange.ts'
import { type KeyViews, recordLocalSort } from './record-local-sort.ts'
import { recordPartition, recordSlices, recordSplitters, type SortPart } from './record-partition.ts'
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
  const { kernels, descending = false } = options
  requireResult(kernels, 'firstScatter', 'The option kernels', 'a value that compileSort returned')
  const parts = partsOf(options)
  if (parts.length <= 1) {
    for (const { input, output, values, sortedValues, first } of parts)
      recordLocalSort(recorder, {
        ...{ kernels, descending },
        source: { keys: input, values },
        target: { keys: output, values: sortedValues },
        ...(kernels.values === 'indices' && { firstIndex: first }),
      })
    return
  }
  requireSeveral(kernels, parts)
  if (!reachAll(group, parts))
    throw new GpuError(
      'unsupported',
      "Some of these devices cannot access each other's memory, so the amount of data that they exchange depends on the keys and is not known when the program is recorded. Call sort, which runs two programs.",
    )
  const staged = parts.map(
    ({ ordinal, length }): KeyViews => ({
      keys: recorder.scratch(ordinal, kernels.type, length, { label: 'staged keys' }),
      values:
        kernels.values === 'none'
          ? undefined
          : recorder.scratch(ordinal, kernels.valueType, length, { label: 'staged values' }),
    }),
  )
  // 1. The keys at which the devices' slices of the result begin.
  const splitters = recordSplitters(recorder, group, { kernels, parts, descending })
  // 2. Each device orders its keys by the slices that they belong to.
  const totals = recordPartition(recorder, { kernels, parts, descending, splitters, staged })
  // 3. Each device writes its keys to the outputs of the devices of their slices.
  recordExchange(recorder, kernels.several!, totals, parts, staged)
  // 4. Each device sorts its slice.
  recordSlices(recorder, { kernels, parts, descending, staged })
}

/** Throws `unsupported` if there are more parts than a pass has digits, or than a dispatch has ranks. */
export function requireSeveral({ form, several }: SortKernels, parts: readonly SortPart[]): void {
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
 * The parts that are not empty. Throws `validation` if the parts do not match, `too-large` if 32-bit indices
 * are too short for all elements.
 */
export function partsOf({ kernels, input, output, values, sortedValues }: RecordSortOptions): SortPart[] {
  const { type, valueType } = kernels
  requireParts(input, {
    input: { views: input, type },
    output: { views: output, type },
    ...(kernels.values === 'given' && { values: { views: values, type: valueType } }),
    ...(kernels.values !== 'none' && { sortedValues: { views: sortedValues, type: valueType } }),
  })
  const parts: SortPart[] = []
  let first = 0
  for (const [index, view] of input.entries()) {
    if (view.length === 0) continue
    const { ordinal } = view.buffer.device
    if (parts.some((part) => part.ordinal === ordinal))
      throw invalid(`A sort needs at most one part on each device; device ${ordinal} has two.`)
    parts.push({
      ...{ ordinal, first, length: view.length, input: view, output: output[index]! },
      values: kernels.values === 'given' ? values![index] : undefined,
      sortedValues: kernels.values === 'none' ? undefined : sortedValues![index],
    })
    first += view.length
  }
  if (first > 4294967295)
    throw new GpuError('too-large', `A sort can have at most 4294967295 elements, not ${first}.`)
  return parts
}
