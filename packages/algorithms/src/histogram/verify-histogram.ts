import type { DeviceGroup } from '@tandem-gpu/core'
import { type ElementSource, readElements, streamChunkLength } from '../element-source.ts'
import { gatherNumbers } from '../gather-numbers.ts'
import type { Verification } from '../report.ts'
import type { ShardedMatrix } from '../sharded-matrix.ts'
import type { HistogramType } from './bin-edges.ts'

/** Compares all counts with those of the CPU, exactly. Each process counts the elements of its devices. */
export async function verifyHistogram<T extends HistogramType>(
  group: DeviceGroup,
  source: ElementSource<T>,
  { slices, type }: ShardedMatrix<T>,
  edges: Float64Array,
  found: Uint32Array,
): Promise<Verification> {
  const width = found.length
  const own = new Map<number, Float64Array>()
  for (const [index, { device, row, rows }] of slices.entries()) {
    if (!device.local) continue
    const counts = new Float64Array(width)
    for (let offset = 0; offset < rows; offset += streamChunkLength) {
      const count = Math.min(streamChunkLength, rows - offset)
      countBins(await readElements(source, type, row + offset, count), edges, counts)
    }
    own.set(index, counts)
  }
  const all = await gatherNumbers(group, group.devices, width, (index) => own.get(index))
  let [wrong, maxError] = [0, 0]
  for (let bin = 0; bin < width; bin++) {
    let expected = 0
    for (let index = 0; index < slices.length; index++) expected += all[index * width + bin]!
    if (expected === found[bin]) continue
    wrong++
    maxError = Math.max(maxError, Math.abs(expected - found[bin]!))
  }
  return {
    checked: true,
    verified: wrong === 0,
    verification: wrong === 0 ? 'every count, exactly' : `${wrong} of ${width} counts are wrong`,
    maxError,
  }
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
