import type { DeviceGroup } from '@tandem-gpu/core'
import { type ElementSource, readElements } from '../element-source.ts'
import { gatherFromPieces } from '../gather-numbers.ts'
import { type Verification, verdict } from '../report.ts'
import type { ShardedMatrix } from '../sharded-matrix.ts'
import type { HistogramType } from './bin-edges.ts'

/** Compares all counts with those of the CPU, exactly. Each process counts the elements of its devices. */
export async function verifyHistogram<T extends HistogramType>(
  group: DeviceGroup,
  source: ElementSource<T>,
  input: ShardedMatrix<T>,
  edges: Float64Array,
  found: Uint32Array,
): Promise<Verification> {
  const width = found.length
  const parts = await gatherFromPieces(group, input, width, async ({ at, count }, counts) =>
    countBins(await readElements(source, input.type, at, count), edges, counts),
  )
  let [wrong, maxError] = [0, 0]
  for (let bin = 0; bin < width; bin++) {
    const expected = parts.reduce((sum, counts) => sum + counts[bin]!, 0)
    if (expected === found[bin]) continue
    wrong++
    maxError = Math.max(maxError, Math.abs(expected - found[bin]!))
  }
  if (wrong > 0) return verdict(false, `${wrong} of ${width} counts are wrong`, maxError)
  return verdict(true, 'every count, exactly', 0)
}

/** Adds the counts of elements: for each bin, outside the bins, and NaN. */
export function countBins(elements: ArrayLike<number>, edges: Float64Array, counts: Float64Array): void {
  const bins = edges.length - 1
  for (let i = 0; i < elements.length; i++) {
    const element = elements[i]!
    let slot = bins
    if (Number.isNaN(element)) slot = bins + 1
    else if (element >= edges[0]! && element <= edges[bins]!) {
      // Finds the last bin that does not begin after the element.
      let first = 0
      let end = bins
      while (end - first > 1) {
        const middle = (first + end) >> 1
        if (edges[middle]! <= element) first = middle
        else end = middle
      }
      slot = first
    }
    counts[slot]!++
  }
}
