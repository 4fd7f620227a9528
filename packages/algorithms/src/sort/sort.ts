import { type DeviceGroup, type ElementType, GpuError, OwnedResources } from '@tandem-gpu/core'
import type { VectorOptions } from '../algorithm-options.ts'
import {
  type ElementSink,
  type ElementSource,
  generatedElements,
  requireElements,
} from '../element-source.ts'
import { elementsOption, requireArguments, vectorOptions } from '../option-types.ts'
import { notVerified, type VectorReport } from '../report.ts'
import { invalid } from '../require-result.ts'
import { describeRun, runMeasured } from '../run-measured.ts'
import {
  allocateSharded,
  readSharded,
  type ShardedMatrix,
  vectorsOf,
  writeSharded,
} from '../sharded-matrix.ts'
import { measureMessageSort } from './measure-message-sort.ts'
import { partedSort, type RecordSortOptions, reachAll, recordSort } from './record-sort.ts'
import { compileSort, type SortedValues, type SortType, type SortVariant } from './sort-kernels.ts'
import { verifySort } from './verify-sort.ts'

/** Options of `sort`. */
export interface SortOptions<T extends SortType = SortType, V extends SortType = SortType>
  extends VectorOptions<T> {
  /** Default false. */
  readonly descending?: boolean | undefined
  /** Receives the sorted elements. */
  readonly output?: ElementSink<T> | undefined
  /** Values that move with the elements, one for each element. */
  readonly values?: ElementSource<V> | undefined
  /** Default u32. */
  readonly valueType?: V | undefined
  /** Receives the values in the order of their elements. */
  readonly valuesOutput?: ElementSink<V> | undefined
  /** Receives the index in the input of each sorted element. Cannot be combined with `values`. */
  readonly indices?: ElementSink<'u32'> | undefined
}

/** The report of `sort`. */
export interface SortReport extends VectorReport {
  readonly algorithm: 'sort'
  readonly descending: boolean
  /**
   * The type of the values that move with the elements; `indices` if the elements' indices move with them.
   */
  readonly values?: SortType | 'indices'
  readonly variant: SortVariant
}

const optionTypes = {
  ...vectorOptions,
  descending: 'boolean',
  output: elementsOption,
  values: elementsOption,
  valueType: 'string',
  valuesOutput: elementsOption,
  indices: elementsOption,
} as const

/**
 * Sorts a vector in the order of JavaScript's typed arrays: -0 before +0, NaN last. `descending` reverses
 * this order, so that NaN comes first. Both orders are stable. Every NaN is written as 0x7fc00000. 32-bit
 * values or the elements' indices may move with the elements. The result is the same on any number of devices
 * and on every backend. `rate` counts elements. Rejects with `too-large` for 2^32 or more elements.
 */
export async function sort<T extends SortType, V extends SortType = 'u32'>(
  group: DeviceGroup,
  call: SortOptions<T, V>,
): Promise<SortReport> {
  const options = requireArguments(group, 'sort', call, optionTypes, ['elements', 'type'])
  const values = requireMoved(options as unknown as SortOptions)
  const { elements, type, descending = false, valueType = 'u32' as V } = options
  const owned = new OwnedResources()
  try {
    const kernels = owned.keep(await compileSort(group, { type, values, valueType }))
    const allocated = async <E extends ElementType>(elementType: E, label: string) =>
      owned.keep(await allocateSharded(group, elementType, elements, 1, { label, zero: false }))
    const source = options.input ?? generatedElements(type, options.seed)
    const input = await allocated(type, 'input')
    const output = await allocated(type, 'output')
    if (options.output) requireElements('The output', options.output, type, elements)
    await writeSharded(group, input, source)
    const given = values === 'given' ? await allocated(valueType, 'values') : undefined
    const sortedValues = values === 'none' ? undefined : await allocated(valueType, 'sorted values')
    const sink = (values === 'indices' ? options.indices : options.valuesOutput) as ElementSink | undefined
    if (sink) requireElements(values === 'indices' ? 'The indices' : 'The values', sink, valueType, elements)
    if (given) await writeSharded(group, given, options.values!)
    const sorted: RecordSortOptions = {
      ...{ kernels, descending },
      input: vectorsOf(input),
      output: vectorsOf(output),
      values: given && vectorsOf(given),
      sortedValues: sortedValues && vectorsOf(sortedValues),
    }
    const measured = { ...options, label: `sort ${elements} ${type}` }
    const parted = partedSort(sorted)
    const direct = reachAll(group, parted.parts)
    const run = await (direct
      ? runMeasured(group, (recorder) => recordSort(recorder, group, sorted), measured)
      : measureMessageSort(group, parted, measured))
    const check =
      options.verify === false
        ? notVerified
        : await verifySort(group, {
            ...{ type, descending, elements, input: source as ElementSource, output, sortedValues },
            values: options.values as ElementSource | undefined,
          })
    if (options.output) await readSharded(group, output, options.output)
    if (sink) await readSharded(group, sortedValues as ShardedMatrix, sink)
    return {
      algorithm: 'sort',
      ...describeRun(group, run, { elements }),
      ...{ type, descending },
      ...(values !== 'none' && { values: values === 'indices' ? 'indices' : valueType }),
      variant: kernels.form.variant,
      shape: { elements },
      slices: input.slices.map(({ rows }) => rows),
      ...check,
      notes: direct ? [] : [messageNote],
    }
  } finally {
    owned.destroy()
  }
}

const messageNote =
  "Some devices cannot access each other's memory, so the sort runs two programs; the second is recorded once the counts of the first are known. The time is the sum of both, without the recording."

/**
 * Returns which values move with the elements. Throws `validation` for options that contradict each other.
 */
function requireMoved(options: SortOptions): SortedValues {
  const { elements, values, valueType, valuesOutput, indices } = options
  if (elements > 4294967295)
    throw new GpuError('too-large', `A sort can have at most 4294967295 elements, not ${elements}.`)
  if (values === undefined) {
    for (const [name, option] of Object.entries({ valueType, valuesOutput }))
      if (option !== undefined) throw invalid(`The option ${name} needs the option values.`)
    return indices === undefined ? 'none' : 'indices'
  }
  if (indices !== undefined)
    throw invalid('The options values and indices exclude each other; set only one of them.')
  return 'given'
}
