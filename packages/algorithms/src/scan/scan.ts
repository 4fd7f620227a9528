import { type DeviceGroup, OwnedResources } from '@tandem-gpu/core'
import type { VectorOptions } from '../algorithm-options.ts'
import { type ElementSink, generatedElements, requireElements } from '../element-source.ts'
import { elementsOption, requireArguments, vectorOptions } from '../option-types.ts'
import { notVerified, type VectorReport } from '../report.ts'
import { describeRun, runMeasured } from '../run-measured.ts'
import { allocateSharded, readSharded, vectorsOf, writeSharded } from '../sharded-matrix.ts'
import { recordScan } from './record-scan.ts'
import {
  compileScan,
  type ScanOperation,
  type ScanType,
  type ScanVariant,
  scanTileLength,
} from './scan-kernels.ts'
import { verifyScan } from './verify-scan.ts'

/** Options of `scan`. */
export interface ScanOptions<T extends ScanType = ScanType> extends VectorOptions<T> {
  /** Default `sum`. */
  readonly operation?: ScanOperation | undefined
  /** Whether an element is excluded from its own result. Default false. */
  readonly exclusive?: boolean | undefined
  /** Receives one result per element. */
  readonly output?: ElementSink<T> | undefined
}

/** The report of `scan`. */
export interface ScanReport extends VectorReport {
  readonly algorithm: 'scan'
  readonly operation: ScanOperation
  readonly exclusive: boolean
  readonly variant: ScanVariant
}

const optionTypes = {
  ...vectorOptions,
  operation: 'string',
  exclusive: 'boolean',
  output: elementsOption,
} as const

/**
 * Prefix sums, minima or maxima of a vector on all devices of the group: `output[i] = input[0] ⊕ … ⊕
 * input[i]`, or without `input[i]` if `exclusive` is true. The slices of devices are whole tiles of 4,096
 * elements and the order of additions is fixed, so that the result has the same bits on any number of devices
 * of one backend.
 *
 * Sums of integers wrap modulo 2^32. Minimum and maximum of f32 are NaN (0x7fc00000) from the first NaN on,
 * and order -0 before +0. An exclusive scan begins with 0, or the identity of minimum and maximum. An
 * exclusive scan of f32 is not always the inclusive one shifted by an element, because rounding occurs at
 * different places. `bytes` counts one read and one write of every element, although the kernels read the
 * elements twice.
 */
export async function scan<T extends ScanType>(
  group: DeviceGroup,
  given: ScanOptions<T>,
): Promise<ScanReport> {
  const options = requireArguments(group, 'scan', given, optionTypes, ['elements', 'type'])
  const { elements, type, operation = 'sum', exclusive = false } = options
  const owned = new OwnedResources()
  try {
    const kernels = owned.keep(await compileScan(group, { operation, type }))
    const source = options.input ?? generatedElements(type, options.seed)
    const shape = { zero: false, alignment: scanTileLength }
    const input = owned.keep(await allocateSharded(group, type, elements, 1, { label: 'input', ...shape }))
    const output = owned.keep(await allocateSharded(group, type, elements, 1, { label: 'output', ...shape }))
    if (options.output) requireElements('The output', options.output, type, elements)
    await writeSharded(group, input, source)
    const run = await runMeasured(
      group,
      (recorder) =>
        recordScan(recorder, group, {
          ...{ kernels, exclusive },
          input: vectorsOf(input),
          output: vectorsOf(output),
        }),
      { ...options, label: `scan ${elements} ${type}` },
    )
    const problem = { type, operation, exclusive, length: elements }
    const check = options.verify === false ? notVerified : await verifyScan(group, source, problem, output)
    if (options.output) await readSharded(group, output, options.output)
    return {
      algorithm: 'scan',
      ...describeRun(group, run, { bytes: elements * 8 }),
      ...{ type, operation, exclusive },
      variant: kernels.variant,
      shape: { elements },
      slices: input.slices.map(({ rows }) => rows),
      ...check,
      notes: [],
    }
  } finally {
    owned.destroy()
  }
}
