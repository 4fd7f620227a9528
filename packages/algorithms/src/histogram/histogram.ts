import { type BufferView, type DeviceGroup, OwnedResources } from '@tandem-gpu/core'
import type { VectorOptions } from '../algorithm-options.ts'
import { type ElementSink, generatedElements, requireElements } from '../element-source.ts'
import { elementsOption, requireArguments, vectorOptions } from '../option-types.ts'
import { recordReduction } from '../reduction/record-reduction.ts'
import { compileReduction, leafLength } from '../reduction/reduction-kernels.ts'
import { notVerified, type VectorReport } from '../report.ts'
import { invalid } from '../require-result.ts'
import { describeRun, runMeasured } from '../run-measured.ts'
import { allocateSharded, type ShardedMatrix, vectorsOf, writeSharded } from '../sharded-matrix.ts'
import type { HistogramType } from './bin-edges.ts'
import { compileHistogram, type HistogramVariant, requireRange } from './histogram-kernels.ts'
import { recordHistogram } from './record-histogram.ts'
import { verifyHistogram } from './verify-histogram.ts'

/** Options of `histogram`. */
export interface HistogramOptions<T extends HistogramType = HistogramType> extends VectorOptions<T> {
  /** The number of bins of equal width. Default 10. */
  readonly bins?: number | undefined
  /** Start of the first bin; set together with `high`. Default: the smallest element. */
  readonly low?: number | undefined
  /** End of the last bin. Default: the largest element. */
  readonly high?: number | undefined
  /** Replaces `bins`, `low` and `high`: ascending edges, one more than the number of bins. */
  readonly edges?: ArrayLike<number> | undefined
  /** Receives the count of each bin. */
  readonly output?: ElementSink<'u32'> | undefined
}

/** The report of `histogram`. */
export interface HistogramReport extends VectorReport {
  readonly algorithm: 'histogram'
  readonly variant: HistogramVariant
  readonly shape: { readonly elements: number; readonly bins: number }
  /** One more than the number of bins. */
  readonly edges: Float64Array
  readonly counts: Uint32Array
  /** The number of elements outside the bins, and of elements that are NaN. */
  readonly outside: number
  readonly notANumber: number
}

const optionTypes = {
  ...vectorOptions,
  bins: 'number',
  low: 'number',
  high: 'number',
  edges: 'any',
  output: elementsOption,
} as const

/**
 * Counts how many elements of a vector fall into each bin, as NumPy's `histogram` does, on all devices of the
 * group: bin k holds `edges[k] <= x < edges[k + 1]`, and the last bin includes its upper edge. The edges of
 * bins of equal width are those of NumPy's `linspace`. Without `low` and `high`, the bins extend from the
 * smallest to the largest element, which are found before the timed run. Counts are exact on any number of
 * devices of every backend. Rejects with `validation` if elements are NaN or infinite and no range is given.
 * `bytes` counts one read of every element.
 */
export async function histogram<T extends HistogramType>(
  group: DeviceGroup,
  given: HistogramOptions<T>,
): Promise<HistogramReport> {
  const options = requireArguments(group, 'histogram', given, optionTypes, ['elements', 'type'])
  const { elements, type, bins, low, high, edges } = options
  requireRange(options)
  const source = options.input ?? generatedElements(type, options.seed)
  const owned = new OwnedResources()
  try {
    const input = owned.keep(
      await allocateSharded(group, type, elements, 1, { label: 'input', zero: false, alignment: leafLength }),
    )
    await writeSharded(group, input, source)
    const vectors = vectorsOf(input)
    const range =
      edges !== undefined
        ? { edges }
        : { bins: bins ?? 10, ...(low === undefined ? await rangeOf(group, type, vectors) : { low, high }) }
    const kernels = owned.keep(await compileHistogram(group, { type, ...range }))
    const count = kernels.bins.edges.length - 1
    if (options.output) requireElements('The output', options.output, 'u32', count)
    const output = owned.keep(await group.devices[0]!.allocate('u32', count + 2, { label: 'counts' }))
    const run = await runMeasured(
      group,
      (recorder) => recordHistogram(recorder, { kernels, input: vectors, output }),
      { ...options, label: `histogram ${elements} ${type}` },
    )
    const found = await group.queue.read(output)
    const counts = found.slice(0, count)
    const check =
      options.verify === false
        ? notVerified
        : await verifyHistogram(group, source, input as ShardedMatrix<T>, kernels.bins.edges, found)
    if (typeof options.output === 'function') await options.output(0, counts.slice())
    else options.output?.set(counts)
    return {
      algorithm: 'histogram',
      ...describeRun(group, run, { bytes: elements * 4 }),
      ...{ type, variant: kernels.variant },
      shape: { elements, bins: count },
      slices: input.slices.map(({ rows }) => rows),
      ...{ edges: kernels.bins.edges, counts, outside: found[count]!, notANumber: found[count + 1]! },
      ...check,
      notes: [],
    }
  } finally {
    owned.destroy()
  }
}

/** The smallest and the largest element; 0 and 1 if there are no elements. */
async function rangeOf<T extends HistogramType>(
  group: DeviceGroup,
  type: T,
  input: readonly BufferView<T>[],
): Promise<{ low: number; high: number }> {
  if (input.every(({ length }) => length === 0)) return { low: 0, high: 1 }
  const owned = new OwnedResources()
  try {
    const compiled = (operation: 'min' | 'max') =>
      compileReduction(group, { kernel: 'best', operation, type })
    const [low, high] = await Promise.all([compiled('min'), compiled('max')])
    for (const kernels of [low, high]) owned.keep(kernels)
    const ends = owned.keep(await group.devices[0]!.allocate(type, 2, { label: 'ends' }))
    const program = owned.keep(
      group.record((recorder) => {
        recordReduction(recorder, group, { kernels: low, input, output: ends.slice(0, 1) })
        recordReduction(recorder, group, { kernels: high, input, output: ends.slice(1, 1) })
      }),
    )
    await group.queue.run(program)
    const [least, greatest] = await group.queue.read(ends)
    if (!Number.isFinite(least) || !Number.isFinite(greatest))
      throw invalid(
        `The elements are not all finite: the smallest is ${least}, and the largest is ${greatest}. Set the range of the bins (low and high).`,
      )
    return { low: least!, high: greatest! }
  } finally {
    owned.destroy()
  }
}
