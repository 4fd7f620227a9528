import {
  type BufferView,
  type DeviceGroup,
  type HostBuffer,
  OwnedResources,
  type Program,
  type Schedule,
} from '@tandem-gpu/core'
import { GatherTree } from '../gather-tree.ts'
import { type MeasuredRun, measurePrograms, type RunMeasuredOptions } from '../run-measured.ts'
import { type KeyViews, recordLocalSort } from './record-local-sort.ts'
import { bucketCount, recordPartition } from './record-partition.ts'
import { recordSegments } from './record-segments.ts'
import { partsOf, type RecordSortOptions, requireSeveral } from './record-sort.ts'
import type { SortPart } from './sort-part.ts'

/** Memory that both programs use; a sort in one program allocates it as scratch. */
export interface StagedMemory {
  /** One part for each part of the input. */
  readonly keys: readonly BufferView[]
  /** Present if values (given ones or indices) move with the keys. */
  readonly values?: readonly BufferView[] | undefined
}

/**
 * Sorts over devices of which some cannot access each other's memory, and times the sort. The lengths of
 * messages are fixed when a program is recorded, but the number of keys that one device sends to another
 * depends on the keys. Therefore there are two programs. The first orders the keys of each device by bucket
 * and sends all counts to every process. The second, recorded when the counts are known, copies the keys of
 * each slice to its device and sorts them there.
 */
export async function measureMessageSort(
  group: DeviceGroup,
  sorted: RecordSortOptions,
  memory: StagedMemory,
  options: RunMeasuredOptions,
): Promise<MeasuredRun> {
  const { kernels, input } = sorted
  const parts = partsOf(sorted)
  requireSeveral(kernels, parts)
  const places = input.flatMap(({ length }, index) => (length > 0 ? [index] : []))
  const staged = places.map((place) => ({ keys: memory.keys[place]!, values: memory.values?.[place] }))
  const devices = parts.map(({ ordinal }) => group.devices[ordinal]!)
  const buckets = bucketCount(parts)
  const owned = new OwnedResources()
  try {
    const length = parts.length * buckets
    const tree = owned.keep(new GatherTree(group, devices, buckets, length, 'counts of buckets'))
    const counts = owned.keep(group.allocateHost('u32', length, { label: 'counts of buckets of all' }))
    return await measurePrograms(
      group,
      async (schedule, keep) => {
        const how = { schedule, label: options.label }
        const first = keep(recordFirst(group, { sorted, parts, staged, tree, counts, ...how }))
        await group.queue.run(first, 1, options.signal ? { signal: options.signal } : {})
        return [first, keep(recordSecond(group, { sorted, parts, staged, counts: counts.array, ...how }))]
      },
      options,
    )
  } finally {
    owned.destroy()
  }
}

interface Recorded {
  readonly sorted: RecordSortOptions
  readonly parts: readonly SortPart[]
  readonly staged: readonly KeyViews[]
  readonly schedule: Schedule
  readonly label?: string | undefined
}

function recordFirst(
  group: DeviceGroup,
  options: Recorded & { readonly tree: GatherTree; readonly counts: HostBuffer<'u32'> },
): Program {
  const { sorted, parts, staged, tree, counts, schedule, label = 'sort' } = options
  const { kernels, descending = false } = sorted
  const buckets = bucketCount(parts)
  return group.record(
    (recorder) => {
      const totals = recordPartition(recorder, group, { kernels, parts, descending, staged })
      for (const [index, { ordinal }] of parts.entries())
        if (recorder.touches(ordinal))
          recorder.download(totals[index]!.slice(0, buckets), tree.place(index), {
            label: 'counts of buckets',
          })
      tree.record(recorder, counts)
    },
    { schedule, label: `${label}: partition` },
  )
}

function recordSecond(
  group: DeviceGroup,
  options: Recorded & { readonly counts: ArrayLike<number> },
): Program {
  const { sorted, parts, staged, counts, schedule, label = 'sort' } = options
  const { kernels, descending = false } = sorted
  const received = parts.map(({ output, sortedValues }) => ({ keys: output, values: sortedValues }))
  return group.record(
    (recorder) => {
      recordSegments(recorder, { parts, staged, received, counts })
      for (const [index, { ordinal }] of parts.entries())
        if (recorder.touches(ordinal))
          recordLocalSort(recorder, {
            ...{ kernels, descending, encoded: true, between: staged[index]! },
            ...{ source: received[index]!, target: received[index]! },
          })
    },
    { schedule, label: `${label}: exchange` },
  )
}
