import { type DeviceGroup, OwnedResources, type Recorder } from '@tandem-gpu/core'
import { GatherTree } from '../gather-tree.ts'
import { type MeasuredRun, measurePrograms, type RunMeasuredOptions } from '../run-measured.ts'
import { recordKnownExchange } from './record-exchange.ts'
import type { KeyViews } from './record-local-sort.ts'
import {
  bucketCount,
  type PartedSort,
  recordPartition,
  recordSlices,
  recordSplitters,
} from './record-partition.ts'
import { requireSeveral } from './record-sort.ts'
import type { SortType } from './sort-kernels.ts'

/**
 * Sorts over devices of which some cannot access each other's memory, and times the sort. The lengths of
 * messages are fixed when a program is recorded, but the number of keys that one device sends to another
 * depends on the keys. Therefore there are two programs. The first orders the keys of each device by bucket
 * and sends all counts to every process. The second, recorded when the counts are known, copies the keys of
 * each slice to its device and sorts them there.
 */
export async function measureMessageSort(
  group: DeviceGroup,
  sort: PartedSort,
  options: RunMeasuredOptions,
): Promise<MeasuredRun> {
  const { kernels, parts } = sort
  const { type, valueType, values } = kernels
  requireSeveral(sort)
  const buckets = bucketCount(parts)
  const devices = parts.map(({ ordinal }) => group.devices[ordinal]!)
  const owned = new OwnedResources()
  try {
    const length = parts.length * buckets
    const tree = owned.keep(new GatherTree(group, devices, buckets, length, 'counts of buckets'))
    const counts = owned.keep(group.allocateHost('u32', length, { label: 'counts of buckets of all' }))
    // Memory that both programs use; a sort in one program allocates it as scratch.
    const allocated = (label: string, element: SortType) =>
      owned.keepAll(
        parts.map(({ ordinal, length: own }) =>
          group.devices[ordinal]!.allocate(element, own, { label: `${label}[${ordinal}]`, zero: false }),
        ),
      )
    const keys = await allocated('staged', type)
    const moved = values === 'none' ? [] : await allocated('staged values', valueType)
    const staged = keys.map((own, index): KeyViews => ({ keys: own, values: moved[index] }))

    return await measurePrograms(
      group,
      async (schedule, keep) => {
        const record = (step: string, work: (recorder: Recorder) => void) =>
          keep(group.record(work, { schedule, label: `${options.label ?? 'sort'}: ${step}` }))
        const first = record('partition', (recorder) => {
          const splitters = recordSplitters(recorder, group, sort)
          const totals = recordPartition(recorder, sort, splitters, staged)
          const label = 'counts of buckets'
          for (const [index, { ordinal }] of parts.entries())
            if (recorder.touches(ordinal))
              recorder.download(totals[index]!.slice(0, buckets), tree.place(index), { label })
          tree.record(recorder, counts)
        })
        await group.queue.run(first, 1, options.signal ? { signal: options.signal } : {})
        const second = record('exchange', (recorder) => {
          recordKnownExchange(recorder, parts, counts.array, staged)
          recordSlices(recorder, sort, staged)
        })
        return [first, second]
      },
      options,
    )
  } finally {
    owned.destroy()
  }
}
