import type { BufferView, Recorder } from '@tandem-gpu/core'
import type { KeyViews } from './record-local-sort.ts'
import { bucketCount } from './record-partition.ts'
import type { SortKernels } from './sort-kernels.ts'
import type { SortPart } from './sort-part.ts'

/** Workgroups that move one device's keys to another device. */
const workgroups = 1024

/** The memory in which each part's keys are staged, and the memory that receives the keys of its slice. */
export interface ExchangeOptions {
  readonly kernels: SortKernels
  readonly parts: readonly SortPart[]
  readonly staged: readonly KeyViews[]
  readonly received: readonly KeyViews[]
  /** How many keys of each part are in each bucket. */
  readonly totals: readonly BufferView<'u32'>[]
}

/**
 * Records that each device writes its keys into the slices of all devices. The positions depend on counts
 * that only the devices have. A kernel may write anywhere in a slice, so the devices that write to one device
 * take turns: in round k, device s writes to device s + k, which keeps all devices busy.
 */
export function recordExchange(recorder: Recorder, options: ExchangeOptions): void {
  const { kernels, parts, staged, received, totals } = options
  const buckets = bucketCount(parts)
  const home = parts[0]!.ordinal
  const all = recorder.scratch(home, 'u32', [parts.length, buckets], { label: 'counts of buckets' })
  const starts = recorder.scratch(home, 'u32', parts.length * buckets, { label: 'starts of buckets' })
  for (const [index] of parts.entries())
    recorder.copy(totals[index]!.slice(0, buckets), all.block(index, 0, 1, buckets), {
      label: 'gather counts of buckets',
    })
  recorder.dispatch(kernels.exchange!.bucketStarts, {
    ...{ device: home, workgroups: Math.ceil((parts.length * buckets) / 64), label: 'add up buckets' },
    args: { totals: all, starts, buckets },
  })
  for (let round = 0; round < parts.length; round++)
    for (const [index, { ordinal }] of parts.entries()) {
      const other = (index + round) % parts.length
      const { keys, values } = staged[index]!
      const target = received[other]!
      recorder.dispatch(kernels.exchange!.segments, {
        ...{ device: ordinal, workgroups, label: `move keys to ${parts[other]!.ordinal}` },
        args: {
          ...{ keys, received: target.keys, totals: totals[index]! },
          starts: starts.slice(index * buckets, buckets),
          ...(values && { values, sorted_values: target.values! }),
          ...{ buckets, first: parts[other]!.first, step: workgroups * 64 },
        },
      })
    }
}
