import type { Recorder } from '@tandem-gpu/core'
import type { KeyViews } from './record-local-sort.ts'
import { bucketCount } from './record-partition.ts'
import type { SortPart } from './sort-part.ts'

/** The memory in which each part's keys are staged, and the memory that receives the keys of its slice. */
export interface SegmentOptions {
  readonly parts: readonly SortPart[]
  readonly staged: readonly KeyViews[]
  readonly received: readonly KeyViews[]
  /** How many keys of each part are in each bucket, part by part. */
  readonly counts: ArrayLike<number>
}

/** Keys of one part that are consecutive both in the part and in the slice that receives them. */
export interface Segment {
  readonly source: number
  readonly target: number
  readonly length: number
}

/**
 * Records that each device copies its keys into the slices of all devices, at positions that follow from the
 * counts. In round k, device s sends to device s + k, which keeps all devices busy.
 */
export function recordSegments(
  recorder: Recorder,
  { parts, staged, received, counts }: SegmentOptions,
): void {
  const segments = segmentsOf(parts, counts)
  for (let round = 0; round < parts.length; round++)
    for (const [index, { ordinal }] of parts.entries()) {
      const other = (index + round) % parts.length
      const { ordinal: receiver } = parts[other]!
      if (!recorder.touches(ordinal, receiver)) continue
      const [from, to] = [staged[index]!, received[other]!]
      for (const { source, target, length } of segments(index, other)) {
        const label = `keys of ${ordinal} for ${receiver}`
        recorder.copy(from.keys.slice(source, length), to.keys.slice(target, length), { label })
        if (from.values)
          recorder.copy(from.values.slice(source, length), to.values!.slice(target, length), {
            label: `values of ${ordinal} for ${receiver}`,
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
    const found: { source: number; target: number; length: number }[] = []
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
