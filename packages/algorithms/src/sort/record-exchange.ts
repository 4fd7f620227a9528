import type { BufferView, Recorder } from '@tandem-gpu/core'
import { inRounds } from '../rounds.ts'
import type { KeyViews } from './record-local-sort.ts'
import { bucketCount, type PartedSort, type SortPart } from './record-partition.ts'

/** The maximum number of workgroups that move one device's keys to another device. */
const mostWorkgroups = 1024

/**
 * Records that each device writes its staged keys into the outputs of all devices. The positions depend on counts
 * that only the devices have. A kernel may write anywhere in a slice, so the devices that write to one device
 * take turns. `totals`: how many keys of each part are in each bucket.
 */
export function recordExchange(
  recorder: Recorder,
  { kernels, parts }: PartedSort,
  totals: readonly BufferView<'u32'>[],
  staged: readonly KeyViews[],
): void {
  const { bucketStarts, segments } = kernels.several!
  const buckets = bucketCount(parts)
  const home = parts[0]!.ordinal
  const all = recorder.scratch(home, 'u32', [parts.length, buckets], { label: 'counts of buckets' })
  const starts = recorder.scratch(home, 'u32', parts.length * buckets, { label: 'starts of buckets' })
  for (const [index] of parts.entries())
    recorder.copy(totals[index]!.slice(0, buckets), all.block(index, 0, 1, buckets), {
      label: 'gather counts of buckets',
    })
  recorder.dispatch(bucketStarts, {
    ...{ device: home, workgroups: Math.ceil((parts.length * buckets) / 64), label: 'add up buckets' },
    args: { totals: all, starts, buckets },
  })
  for (const [index, other] of inRounds(parts.length)) {
    const { keys, values } = staged[index]!
    const { ordinal, target, first, length } = parts[other]!
    const workgroups = Math.min(mostWorkgroups, Math.ceil(length / 64))
    recorder.dispatch(segments, {
      ...{ device: parts[index]!.ordinal, workgroups, label: `move keys to ${ordinal}` },
      args: {
        ...{ keys, received: target.keys, totals: totals[index]! },
        starts: starts.slice(index * buckets, buckets),
        ...(values && { values, sorted_values: target.values! }),
        ...{ buckets, first, step: workgroups * 64 },
      },
    })
  }
}

/** Keys of one part that are consecutive both in the part and in the slice that receives them. */
export interface Segment {
  readonly source: number
  readonly target: number
  length: number
}

/**
 * Records the same exchange as copies, for devices that send messages. `counts`: how many keys of each part
 * are in each bucket, part by part, as the program before has found.
 */
export function recordKnownExchange(
  recorder: Recorder,
  parts: readonly SortPart[],
  counts: ArrayLike<number>,
  staged: readonly KeyViews[],
): void {
  const segments = segmentsOf(parts, counts)
  for (const [index, other] of inRounds(parts.length)) {
    const { ordinal: sender } = parts[index]!
    const { ordinal: receiver, target: to } = parts[other]!
    if (!recorder.touches(sender, receiver)) continue
    for (const { source, target, length } of segments(index, other))
      for (const what of ['keys', 'values'] as const) {
        const from = staged[index]![what]
        if (from)
          recorder.copy(from.slice(source, length), to[what]!.slice(target, length), {
            label: `${what} of ${sender} for ${receiver}`,
          })
      }
  }
}

/**
 * The segments that one part sends to the slice of another. The sorted order is bucket by bucket, and part by
 * part within a bucket, as in bucket-starts.part.wgsl. Buckets that are adjacent in both places form one
 * segment.
 */
export function segmentsOf(
  parts: readonly SortPart[],
  counts: ArrayLike<number>,
): (part: number, slice: number) => Segment[] {
  const buckets = bucketCount(parts)
  const starts = new Float64Array(parts.length * buckets)
  let before = 0
  for (let bucket = 0; bucket < buckets; bucket++)
    for (let part = 0; part < parts.length; part++) {
      starts[part * buckets + bucket] = before
      before += counts[part * buckets + bucket]!
    }
  return (part, slice) => {
    const { first: sliceStart, length: sliceLength } = parts[slice]!
    const found: Segment[] = []
    let own = 0
    for (let bucket = 0; bucket < buckets; bucket++) {
      const [start, count] = [starts[part * buckets + bucket]!, counts[part * buckets + bucket]!]
      const first = Math.max(start, sliceStart)
      const length = Math.min(start + count, sliceStart + sliceLength) - first
      if (length > 0) {
        const [source, target] = [own + first - start, first - sliceStart]
        const last = found.at(-1)
        const follows = last && last.source + last.length === source && last.target + last.length === target
        if (follows) last.length += length
        else found.push({ source, target, length })
      }
      own += count
    }
    return found
  }
}
