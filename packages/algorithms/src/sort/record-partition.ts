import type { BufferView, DeviceGroup, Recorder } from '@tandem-gpu/core'
import { codes, type KeyViews, rangesOf, recordPass } from './record-local-sort.ts'
import type { SortKernels } from './sort-kernels.ts'
import type { SortPart } from './sort-part.ts'

/** Options of `recordPartition`. */
export interface PartitionOptions {
  readonly kernels: SortKernels
  readonly parts: readonly SortPart[]
  readonly descending: boolean
  /** The memory that receives each part's keys and values, bucket by bucket. */
  readonly staged: readonly KeyViews[]
}

/**
 * The number of buckets: one for the keys equal to each splitter, and one for the keys on either side of it.
 */
export function bucketCount(parts: readonly SortPart[]): number {
  return 2 * parts.length - 1
}

/**
 * Records that each device orders its keys by bucket. The splitters are the first keys of the devices' slices
 * in the sorted order. They are found exactly, digit by digit from the highest to the lowest (radix select):
 * each device counts, and the first device chooses. Returns how many keys of each part are in each bucket.
 */
export function recordPartition(
  recorder: Recorder,
  group: DeviceGroup,
  options: PartitionOptions,
): BufferView<'u32'>[] {
  const { kernels, parts, descending, staged } = options
  const splitters = recordSplitters(recorder, group, options)
  const { partition, type, form } = kernels
  return parts.map(({ ordinal, first, input, values }, index) => {
    if (!recorder.touches(ordinal)) return recorder.scratch(ordinal, 'u32', 2 ** form.bits)
    return recordPass(
      recorder,
      { form, ...partition! },
      { type, descending },
      {
        from: { keys: input, values },
        to: staged[index]!,
        digit: { splitters: splitters[index]! },
        encode: true,
        decode: false,
        firstIndex: kernels.values === 'indices' ? first : undefined,
      },
    )
  })
}

/** Records the selection of the splitters. Returns them in memory that each part's device can read. */
function recordSplitters(
  recorder: Recorder,
  group: DeviceGroup,
  { kernels, parts, descending }: PartitionOptions,
): BufferView<'u32'>[] {
  const { form, type, exchange } = kernels
  const home = parts[0]!.ordinal
  const count = parts.length - 1
  const { encodeMask, floats } = codes({ type, descending }, true, false)
  const chosen = recorder.scratch(home, 'u32', count, { label: 'splitters', zero: true })
  const rests = recorder.scratch(home, 'u32', count, { label: 'ranks', zero: true })
  const near = parts.map(({ ordinal }) =>
    group.canAccessPeer(ordinal, home)
      ? chosen
      : recorder.scratch(ordinal, 'u32', count, { label: `splitters ${ordinal}`, zero: true }),
  )
  const spread = () => {
    for (const [index, { ordinal }] of parts.entries())
      if (near[index] !== chosen && recorder.touches(ordinal, home))
        recorder.copy(chosen, near[index]!, { label: 'spread splitters' })
  }
  const ranks = Array.from({ length: 16 }, (_, k) => parts[k + 1]?.first ?? 0)
  for (const shift of [24, 16, 8, 0]) {
    const first = shift === 24
    const rows = first ? 1 : count
    const all = recorder.scratch(home, 'u32', [parts.length, rows * 256], {
      label: 'counts of digits of all',
    })
    for (const [index, { ordinal, input }] of parts.entries()) {
      if (!recorder.touches(ordinal, home)) continue
      const place = all.block(index, 0, 1, rows * 256)
      const own =
        ordinal === home
          ? place
          : recorder.scratch(ordinal, 'u32', rows * 256, { label: `counts of digits ${ordinal}` })
      recorder.fill(own, 0, { label: 'clear counts' })
      const { ranges, range } = rangesOf(form, input.length)
      recorder.dispatch(exchange!.selectCount, {
        ...{ device: ordinal, workgroups: ranges, label: 'count digits of splitters' },
        args: {
          ...{ keys: input, splitters: near[index]!, counts: own },
          ...{ shift, range, ranges, floats, encode_mask: encodeMask, decode_mask: 0, first_index: 0 },
        },
      })
      if (own !== place) recorder.copy(own, place, { label: 'gather counts' })
    }
    if (recorder.touches(home))
      recorder.dispatch(exchange!.selectPick, {
        ...{ device: home, workgroups: count, label: 'choose digits' },
        args: { counts: all, splitters: chosen, rests, ranks, first: first ? 1 : 0 },
      })
    spread()
  }
  return near
}
