import { type DeviceGroup, OwnedResources } from '@tandem-gpu/core'
import type { AlgorithmOptions, GeneratedInputOptions } from '../algorithm-options.ts'
import {
  type ElementSink,
  type ElementSource,
  generatedElements,
  requireElements,
} from '../element-source.ts'
import { elementsOption, requireArguments } from '../option-types.ts'
import { notVerified, type Report } from '../report.ts'
import { describeRun, runMeasured } from '../run-measured.ts'
import { allocateSharded, readSharded, writeSharded } from '../sharded-matrix.ts'
import { compileAnywhere } from './compile-fft.ts'
import {
  type FftDirection,
  type FftMethod,
  type FftNorm,
  type FftOrder,
  type FftPlan,
  type FftPlanOptions,
  productOf,
  transformedCount,
} from './plan-fft.ts'
import { matricesOf, recordFft } from './record-fft.ts'
import { verifyFft } from './verify-fft.ts'

/** Options of `fft`. */
export interface FftOptions extends AlgorithmOptions, GeneratedInputOptions, Omit<FftPlanOptions, 'limits'> {
  /**
   * The numbers of the array in row-major order; a complex number is two consecutive ones. Default:
   * reproducible pseudo-random numbers.
   */
  readonly input?: ElementSource<'f32'> | undefined
  /** Receives the result in the same form, with the report's `outputShape`. */
  readonly output?: ElementSink<'f32'> | undefined
}

/** The report of `fft`. */
export interface FftReport extends Report {
  readonly algorithm: 'fft'
  /**
   * The length of each axis, starting with `axis0`. If one side of the transform is real, the shape of the
   * real array.
   */
  readonly shape: Readonly<Record<string, number>>
  readonly axes: readonly number[]
  readonly direction: FftDirection
  /** Whether the input (forward) or the output (inverse) is real. */
  readonly real: boolean
  readonly norm: FftNorm
  readonly order: FftOrder
  readonly inputShape: readonly number[]
  readonly outputShape: readonly number[]
  /** How each axis is transformed, in the order of the passes. */
  readonly passes: readonly { readonly axis: number; readonly method: string }[]
}

const optionTypes = {
  shape: 'any',
  axes: 'any',
  real: 'boolean',
  direction: ['forward', 'inverse'],
  norm: ['backward', 'ortho', 'forward'],
  order: ['natural', 'transposed'],
  input: elementsOption,
  output: elementsOption,
} as const

/**
 * Fourier transform of an array along any of its axes, on all devices of the group, each of which holds a
 * slice of the first axis. `flops` counts 5 · n · log2(N) operations for n complex values in lines (or
 * squares, or blocks) of N values; half as many, rounded, if one side is real. The relative error in the L2
 * norm is about 10^-7. The result has the same bits on any number of devices.
 */
export async function fft(group: DeviceGroup, given: FftOptions): Promise<FftReport> {
  const options = requireArguments(group, 'fft', given, optionTypes, ['shape'])
  const { verify = true, seed } = options
  const owned = new OwnedResources()
  try {
    const { compiled, notes } = await compileAnywhere(group, options)
    owned.keep(compiled)
    const { plan } = compiled
    const { axes, direction, norm, order, inputShape, outputShape } = plan
    const source = options.input ?? generatedElements('f32', seed)
    const { input: from, output: to } = matricesOf(plan)
    requireElements('The input', source, 'f32', from.rows * from.columns)
    if (options.output) requireElements('The output', options.output, 'f32', to.rows * to.columns)
    const input = owned.keep(
      await allocateSharded(group, 'f32', from.rows, from.columns, { label: 'input', zero: false }),
    )
    const output = owned.keep(await allocateSharded(group, 'f32', to.rows, to.columns, { label: 'output' }))
    await writeSharded(group, input, source)
    const run = await runMeasured(
      group,
      (recorder) => recordFft(recorder, group, { fft: compiled, input, output }),
      { ...options, label: `fft ${plan.shape.join(' × ')}` },
    )
    const check = verify ? await verifyFft(group, { plan, source, input, output }) : notVerified
    if (options.output) await readSharded(group, output, options.output)
    return {
      algorithm: 'fft',
      ...describeRun(group, run, { flops: operationCount(plan) }),
      shape: Object.fromEntries(plan.shape.map((length, axis) => [`axis${axis}`, length])),
      ...{ axes, direction, real: plan.realInput || plan.realOutput, norm, order, inputShape, outputShape },
      passes: plan.passes.map(({ axis, method }) => ({ axis, method: describeMethod(method) })),
      ...check,
      notes,
    }
  } finally {
    owned.destroy()
  }
}

function operationCount(plan: FftPlan): number {
  const each = (plan.realInput || plan.realOutput ? 2.5 : 5) * Math.log2(Math.max(1, transformedCount(plan)))
  return Math.round(productOf(plan.shape) * each)
}

/** How lines are transformed, in words. */
export function describeMethod(method: FftMethod): string {
  const stages = (radices: readonly number[]) => radices.join(' · ')
  if (method.kind === 'packed') return `real numbers in pairs: ${describeMethod(method.half)}`
  if (method.kind === 'square')
    return `squares of (${stages(method.columns.radices)}) × (${stages(method.rows.radices)})`
  const { kind, length, points, radices, convolves } = method
  const what = convolves
    ? `lines of ${length} by a convolution of ${points} = ${stages(radices)}`
    : `${kind === 'line' ? 'lines' : 'stages'} of ${stages(radices)}`
  return kind === 'line' ? what : `${what} through memory`
}
