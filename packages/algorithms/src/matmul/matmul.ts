import type { DeviceGroup, HostBuffer } from '@tandem-gpu/core'
import type { AlgorithmOptions, GeneratedInputOptions } from '../algorithm-options.ts'
import type { ElementSink, ElementSource } from '../element-source.ts'
import { devicesOptions, requireArguments } from '../option-types.ts'
import type { Report } from '../report.ts'
import { describeRun } from '../run-measured.ts'
import { type ChooseProductOptions, chooseProduct, type ProductChoice } from './choose/choose-product.ts'
import type { MatmulPrediction } from './choose/predict-matmul.ts'
import { type HalfMatmulOptions, type HalfMatmulReport, matmulHalf } from './half/half-matmul.ts'
import type { MatmulShape, MatmulType } from './matmul-shape.ts'
import { productOperands, productOptionTypes } from './product-operands.ts'
import { runResident, runStreamed } from './run-matmul.ts'
import { compileMatmul, type MatmulBlocking, type MatmulKernels } from './single/matmul-kernels.ts'
import type { StreamPlan } from './stream/plan-stream.ts'
import { compileSplit } from './tensor/split-kernels.ts'

/** Options of `matmul` for f32, i32 and u32. */
export interface MatmulOptions<T extends MatmulType = MatmulType>
  extends MatmulShape,
    AlgorithmOptions,
    GeneratedInputOptions,
    ChooseProductOptions {
  readonly signal?: AbortSignal | undefined
  /** Default f32. */
  readonly type?: T | undefined
  /**
   * m × k, row-major. Default: reproducible random elements from `seed`. Elements of a host buffer are
   * streamed without a copy.
   */
  readonly a?: ElementSource<T> | HostBuffer<T> | undefined
  /** k × n, row-major. Default and host buffers as for `a`. */
  readonly b?: ElementSource<T> | HostBuffer<T> | undefined
  /** Receives the m × n result, row-major. */
  readonly output?: ElementSink<T> | HostBuffer<T> | undefined
}

/** The report of `matmul` for f32, i32 or u32. */
export interface MatmulReport extends Report {
  readonly algorithm: 'matmul'
  readonly type: MatmulType
  /** How products are computed: `ieee` with f32 arithmetic, `split` with f16 parts on tensor cores. */
  readonly precision: 'ieee' | 'split'
  readonly mode: 'resident' | 'streamed'
  readonly blocking: MatmulBlocking
  /** The number of rows of A and C on each device that is used. */
  readonly slices: readonly number[]
  readonly stream?: StreamPlan
  readonly prediction: MatmulPrediction
  /** The reasons for the chosen method, one sentence for each decision. */
  readonly reasons: readonly string[]
  readonly samples: readonly number[]
}

const optionTypes = {
  ...productOptionTypes,
  streamWidth: 'number',
  memoryLimitBytes: 'number',
  mode: ['resident', 'streamed'],
  ...devicesOptions,
  precision: ['ieee', 'split', 'auto'],
} as const

/**
 * C = A · B on the devices of the group, for matrices of any size. A and C are divided into slices of rows.
 * In resident mode, every device gathers B, and the time includes the gathering. In streamed mode, B is
 * streamed in panels, and the time includes all transfers.
 */
export async function matmul<T extends MatmulType = 'f32'>(
  group: DeviceGroup,
  options: MatmulOptions<T>,
): Promise<MatmulReport>
/** The same for f16 matrices with sums in f32. Tensor cores are used if every device has them. */
export async function matmul(group: DeviceGroup, options: HalfMatmulOptions): Promise<HalfMatmulReport>
export async function matmul<T extends MatmulType = 'f32'>(
  group: DeviceGroup,
  options: MatmulOptions<T> | HalfMatmulOptions,
): Promise<MatmulReport | HalfMatmulReport> {
  return isHalf(options) ? matmulHalf(group, options) : matmulWhole(group, options)
}

function isHalf(options: { readonly type?: string | undefined }): options is HalfMatmulOptions {
  return options?.type === 'f16'
}

async function matmulWhole<T extends MatmulType>(
  group: DeviceGroup,
  given: MatmulOptions<T>,
): Promise<MatmulReport> {
  const options = requireArguments(group, 'matmul', given, optionTypes, ['m', 'n', 'k'])
  const { m, n, k, verify = true } = options
  const { type, shape, a, b } = productOperands<T, ElementSource<T> | HostBuffer<T>>(options, true)

  const choice = await chooseProduct(group, shape, type, options)
  const { prediction, devices, ranges, blocking, split, stream, panelColumns, reasons } = choice
  const kernels = await compileProduct(group, type, choice)
  const run = {
    group,
    shape,
    type,
    a,
    b,
    output: options.output,
    devices,
    kernels,
    verify,
    split,
    panelColumns,
    options,
  }
  const { verification, ...measured } = await (stream ? runStreamed(run, stream) : runResident(run)).finally(
    () => kernels.destroy(),
  )

  const notes = prediction.chosen === prediction.best ? [] : [prediction.reason]
  return {
    algorithm: 'matmul',
    ...describeRun(group, measured, { flops: 2 * m * n * k }, devices),
    shape: { m, n, k },
    type,
    precision: split ? 'split' : 'ieee',
    mode: stream ? 'streamed' : 'resident',
    blocking,
    slices: ranges.map((range) => range.rows),
    ...(stream && { stream }),
    prediction,
    reasons,
    ...verification,
    samples: measured.measurement.samples,
    notes,
  }
}

/** Compiles the kernels for a choice. */
async function compileProduct(
  group: DeviceGroup,
  type: MatmulType,
  { blocking, split }: ProductChoice,
): Promise<MatmulKernels> {
  const kernels = await compileMatmul(group, type, blocking)
  if (!split) return kernels
  const parts = await compileSplit(group).catch((error: unknown) => {
    kernels.destroy()
    throw error
  })
  const destroy = () => {
    kernels.destroy()
    parts.destroy()
  }
  return { ...kernels, split: parts, destroy }
}
