import type { BufferView, DeviceGroup, Recorder } from '@tandem-gpu/core'
import { codingOf, type KeyViews, rangesOf, recordLocalSort, recordPass } from './record-local-sort.ts'
import type { SortKernels } from './sort-kernels.ts'

/** One device's part of the keys and the values, and of the result. */
export interface SortPart {
  readonly ordinal: number
  /** The index of the part's first element. */
  readonly first: number
  readonly length: number
  readonly source: KeyViews
  readonly target: KeyViews
}

/** A sort over several devices. */
export interface PartedSort {
  readonly kernels: SortKernels
  readonly parts: readonly SortPart[]
  readonly descending: boolean
}

/**
 * The number of buckets: one for the keys equal to each splitter, and one for the keys on either side of it.
 */
export function bucketCount(parts: readonly SortPart[]): number {
  return 2 * parts.length - 1
}

/**
 * Records the search for the splitters, the first keys of the devices' slices in the sorted order. They are
 * found exactly, digit by digit from the highest to the lowest (radix select): each device counts the digits
 * of its keys that begin like a splitter, and the first device chooses. Returns the splitters in memory of
 * each part's device.
 */
export function recordSplitters(
  recorder: Recorder,
  group: DeviceGroup,
  { kernels, parts, descending }: PartedSort,
): BufferView<'u32'>[] {
  const { form, type } = kernels
  const { selectCount, selectPick } = kernels.several!
  const home = parts[0]!.ordinal
  const count = parts.length - 1
  const coding = codingOf(type, descending, true, false)
  const chosen = recorder.scratch(home, 'u32', count, { label: 'splitters', zero: true })
  const rests = recorder.scratch(home, 'u32', count, { label: 'ranks', zero: true })
  const near = parts.map(({ ordinal }) =>
    group.canAccessPeer(ordinal, home)
      ? chosen
      : recorder.scratch(ordinal, 'u32', count, { label: `splitters ${ordinal}`, zero: true }),
  )
  const ranks = Array.from({ length: 16 }, (_, k) => parts[k + 1]?.first ?? 0)
  for (const shift of [24, 16, 8, 0]) {
    const first = shift === 24
    const rows = first ? 1 : count
    const all = recorder.scratch(home, 'u32', [parts.length, rows * 256], {
      label: 'counts of digits of all',
    })
    for (const [index, { ordinal, source }] of parts.entries()) {
      if (!recorder.touches(ordinal, home)) continue
      const place = all.block(index, 0, 1, rows * 256)
      const own =
        ordinal === home
          ? place
          : recorder.scratch(ordinal, 'u32', rows * 256, { label: `counts of digits ${ordinal}` })
      recorder.fill(own, 0, { label: 'clear counts' })
      const { ranges, range } = rangesOf(form, source.keys.length)
      recorder.dispatch(selectCount, {
        ...{ device: ordinal, workgroups: ranges, label: 'count digits of splitters' },
        args: {
          ...{ keys: source.keys, splitters: near[index]!, counts: own },
          ...{ shift, range, ranges, ...coding, first_index: 0 },
        },
      })
      if (own !== place) recorder.copy(own, place, { label: 'gather counts' })
    }
    if (recorder.touches(home))
      recorder.dispatch(selectPick, {
        ...{ device: home, workgroups: count, label: 'choose digits' },
        args: { counts: all, splitters: chosen, rests, ranks, first: first ? 1 : 0 },
      })
    for (const [index, { ordinal }] of parts.entries())
      if (near[index] !== chosen && recorder.touches(ordinal, home))
        recorder.copy(chosen, near[index]!, { label: 'spread splitters' })
  }
  // The partition compares each key with them, which over a link would take most of its time.
  return parts.map(({ ordinal }, index) => {
    if (ordinal === home || near[index] !== chosen) return near[index]!
    const own = recorder.scratch(ordinal, 'u32', count, { label: `splitters ${ordinal}` })
    if (recorder.touches(ordinal, home)) recorder.copy(chosen, own, { label: 'spread splitters' })
    return own
  })
}

/**
 * Records that each device orders its keys by bucket. `splitters` are in memory of each part's device;
 * `staged` receives each part's keys and values. Returns how many keys of each part are in each bucket.
 */
export function recordPartition(
  recorder: Recorder,
  { kernels, parts, descending }: PartedSort,
  splitters: readonly BufferView<'u32'>[],
  staged: readonly KeyViews[],
): BufferView<'u32'>[] {
  const { several, starts, type, form } = kernels
  const passKernels = { count: several!.countBuckets, starts, scatter: several!.scatterBuckets }
  return parts.map(({ ordinal, first, source }, index) => {
    if (!recorder.touches(ordinal)) return recorder.scratch(ordinal, 'u32', 2 ** form.bits)
    return recordPass(recorder, form, passKernels, {
      ...{ from: source, to: staged[index]!, splitters: splitters[index]! },
      coding: codingOf(type, descending, true, false),
      firstIndex: kernels.values === 'indices' ? first : undefined,
    })
  })
}

/**
 * Records that each device sorts its slice, of which its output has the keys in any order. The staged keys are
 * not needed any more.
 */
export function recordSlices(
  recorder: Recorder,
  { kernels, parts, descending }: PartedSort,
  staged: readonly KeyViews[],
): void {
  for (const [index, { ordinal, target }] of parts.entries())
    if (recorder.touches(ordinal))
      recordLocalSort(recorder, {
        ...{ kernels, descending, encoded: true, source: target, target, between: staged[index]! },
      })
}
