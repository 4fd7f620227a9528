import { counted, type Device, type DeviceGroup, GpuError, isGpuError } from '@tandem-gpu/core'
import { characterOf } from '../../device-character.ts'
import type { TuningOptions } from '../../tuning/tuning-store.ts'
import type { MatmulShape, MatmulType } from '../matmul-shape.ts'
import {
  assumedProcessors,
  chooseBlocking,
  estimatedCycles,
  leastCycles,
  type MatmulBlocking,
  matmulCandidates,
} from '../single/matmul-kernels.ts'
import { planStream, type StreamPlan, withSplitParts, withTransposedRows } from '../stream/plan-stream.ts'
import { gainsFromSplitting, hasSplitProducts, type MatmulPrecision } from '../tensor/split-kernels.ts'
import { type ChooseDevicesOptions, chooseDevices, type DeviceChoice } from './choose-devices.ts'
import { defaultMemoryByteLength, fitsResident, padded } from './matmul-memory.ts'
import { panelColumns, smallPanelLength } from './panel-columns.ts'
import { tuneMatmul } from './tune-matmul.ts'

/** The caller's choices for the computation of a product. */
export interface ChooseProductOptions extends TuningOptions, ChooseDevicesOptions {
  /**
   * The number of columns of B in a panel. This option and `memoryLimitBytes` stream the matrices from host
   * memory. Default 2048, on software adapters 256.
   */
  readonly streamWidth?: number | undefined
  /**
   * The device memory that the product may use on each device. Default: 80 % of the device's memory, if its
   * size is known.
   */
  readonly memoryLimitBytes?: number | undefined
  /**
   * `resident`: the matrices stay on the devices for the timed runs. `streamed`: they are streamed from host
   * memory. Default: `resident` if they fit on the devices.
   */
  readonly mode?: 'resident' | 'streamed' | undefined
  /**
   * How products of f32 are computed. `split` needs tensor cores, and memory for the parts. Default `ieee`.
   */
  readonly precision?: MatmulPrecision | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * How one product will be computed: everything that is decided before kernels are compiled and memory is
 * allocated.
 */
export interface ProductChoice extends DeviceChoice {
  readonly blocking: MatmulBlocking
  /** Whether products are computed from f16 parts. */
  readonly split: boolean
  /** Present if the matrices are streamed; absent if they stay on the devices. */
  readonly stream?: StreamPlan
  /** The number of columns of B that a device gathers at a time, if the matrices stay on the devices. */
  readonly panelColumns: number
}

/** A streamed product with narrower panels does not transpose A. */
const leastTransposedWidth = 512

/**
 * Decides how `shape` is computed on `group`: predicts the time for each number of devices, decides whether
 * the matrices stay on the devices or are streamed, and chooses the fastest blocking (measured if `tuning` is
 * given). Throws `validation` for options that contradict each other, and `too-large` if the memory cannot
 * hold even one row and one column.
 */
export async function chooseProduct(
  group: DeviceGroup,
  shape: MatmulShape,
  type: MatmulType,
  options: ChooseProductOptions = {},
): Promise<ProductChoice> {
  const { streamWidth, memoryLimitBytes } = options
  const limited = streamWidth !== undefined || memoryLimitBytes !== undefined
  if (limited && options.mode === 'resident')
    throw new GpuError(
      'validation',
      `A ${streamWidth === undefined ? 'memory limit' : 'stream width'} applies only to matrices that stream through the devices, but the mode is 'resident'.`,
    )
  const streams = (devices: readonly Device[]) =>
    shape.m * shape.n * shape.k > 0 &&
    (options.mode === undefined ? limited || !fitsResident(shape, devices) : options.mode === 'streamed')
  const memoryLimit = (devices: readonly Device[]) =>
    memoryLimitBytes ?? Math.min(...devices.map(defaultMemoryByteLength))
  const planFor = (devices: readonly Device[], limit = memoryLimit(devices)) =>
    planStream(shape, devices, {
      streamWidth: streamWidth ?? characterOf(group).streamWidth,
      memoryLimitBytes: limit,
      parts: chooseBlocking(devices[0]!, shape).parts,
    })
  /** The plan with memory for f16 parts, which need as much as the matrices. */
  const splitPlanFor = (plain: StreamPlan, devices: readonly Device[]) => {
    const limit = memoryLimit(devices)
    const whole = withSplitParts(plain, shape.k, limit)
    if (whole !== undefined) return whole
    try {
      return withSplitParts(planFor(devices, 0.45 * limit), shape.k, limit)
    } catch (error) {
      if (isGpuError(error, 'too-large')) return undefined
      throw error
    }
  }

  const { reasons: choiceOfDevices, ...chosen } = await chooseDevices(group, shape, 'f32', options, (all) => {
    const outline = streams(all) ? planFor(all) : undefined
    return {
      streamed: outline !== undefined,
      ...(outline && { panels: outline.panels, rounds: outline.rounds }),
    }
  })
  const { devices, ranges } = chosen

  const plain = streams(devices) ? planFor(devices) : undefined
  const transposed = plain && withTransposedRows(plain, shape.k, memoryLimit(devices))
  const asksForParts = (options.precision ?? 'ieee') !== 'ieee'
  const splitStream = plain && asksForParts ? splitPlanFor(plain, devices) : undefined
  const fits = plain ? splitStream !== undefined : fitsResident(shape, devices, { split: true })
  const split = choosesSplit(shape, type, devices, fits, options.precision)
  const part = plain ? { m: plain.rowBlock, n: plain.width, k: shape.k } : { ...shape, m: ranges[0]!.rows }
  const candidates = matmulCandidates(devices[0]!, shape, part.m, {
    transposed: plain
      ? !split && transposed !== undefined && plain.width >= leastTransposedWidth
      : !split && fitsResident(shape, devices, { transposed: true }),
  })
  const measured = split ? undefined : await tuneMatmul(group, devices[0]!, type, part, candidates, options)
  const blocking = measured ?? candidates[0]
  const stream = split ? splitStream : blocking.body === 'transposed' ? transposed : plain
  const reasons = [
    ...choiceOfDevices,
    modeReason(options, stream),
    type === 'f32' ? precisionReason(options.precision, split, fits) : undefined,
    kernelReason(candidates, measured, { ...shape, m: part.m }),
    partsReason(blocking, shape),
    stream === undefined && devices.length > 1 ? panelReason(shape.k, padded(shape.n)) : undefined,
  ]
  return {
    ...chosen,
    blocking,
    split,
    panelColumns: panelColumns(shape.k, padded(shape.n)),
    ...(stream && { stream }),
    reasons: reasons.filter((reason) => reason !== undefined),
  }
}

function modeReason(
  { mode, streamWidth, memoryLimitBytes }: ChooseProductOptions,
  stream: StreamPlan | undefined,
): string {
  const how =
    stream === undefined
      ? 'The matrices stay on the devices'
      : `B streams through the devices in ${stream.panels} panels of ${stream.width} columns, A in blocks of ${stream.rowBlock} rows`
  if (mode !== undefined) return `${how}, as requested.`
  if (stream === undefined) return `${how}, which have enough memory.`
  if (streamWidth !== undefined) return `${how}: a stream width was given.`
  return `${how}: ${memoryLimitBytes === undefined ? 'they do not fit in memory' : 'a memory limit was given'}.`
}

function kernelReason(
  candidates: readonly [MatmulBlocking, ...MatmulBlocking[]],
  measured: MatmulBlocking | undefined,
  shape: MatmulShape,
): string {
  const [expected, next] = candidates
  const name = ({ tileRows, tileColumns, body }: MatmulBlocking) => `${tileRows} × ${tileColumns} (${body})`
  const what = `The kernel of ${name(measured ?? expected)} is`
  if (next === undefined) return `${what} the only candidate.`
  if (measured !== undefined) return `${what} measured to be the fastest of ${candidates.length}.`
  const more = estimatedCycles(next, shape) / estimatedCycles(expected, shape) - 1
  return `${what} expected to be the fastest of ${candidates.length} for ${shape.m} × ${shape.n} of C; that of ${name(next)} should take ${percent(more)} longer.`
}

function partsReason({ parts }: MatmulBlocking, shape: MatmulShape): string {
  if (parts === 1) return 'The sum over k is not divided into parts.'
  const less = 1 - leastCycles(shape, parts) / leastCycles(shape, 1)
  return `The sum over k is divided into ${parts} parts on every GPU, so that the bits are the same; on ${assumedProcessors} multiprocessors, that should take ${percent(less)} less time than whole sums.`
}

function panelReason(k: number, columns: number): string {
  if (k * columns <= smallPanelLength)
    return `Each device gathers all of B in one panel, because B has no more than ${grouped(smallPanelLength)} elements.`
  const width = panelColumns(k, columns)
  const panels = counted(Math.ceil(columns / width), 'panel')
  return `Each device gathers B in ${panels} of at most ${width} columns, because B has more than ${grouped(smallPanelLength)} elements.`
}

const grouped = (count: number) => count.toLocaleString('en')

const percent = (share: number) => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`

function precisionReason(precision: MatmulPrecision | undefined, split: boolean, fits: boolean): string {
  const how = split ? 'Products are formed from f16 parts on tensor cores' : 'Products are formed in f32'
  if (precision === undefined) return `${how}, the default precision.`
  if (precision !== 'auto') return `${how}, as requested.`
  if (split) return `${how}, since the product is large.`
  return `${how}: ${fits ? 'the product is small, or a device has no tensor cores' : 'there is not enough memory for the parts'}.`
}

/** Whether products are computed from f16 parts. Throws if the caller requests that and it is impossible. */
function choosesSplit(
  shape: MatmulShape,
  type: MatmulType,
  devices: readonly Device[],
  fits: boolean,
  precision: MatmulPrecision = 'ieee',
): boolean {
  if (precision === 'ieee' || shape.m * shape.n * shape.k === 0) return false
  if (precision === 'auto') return type === 'f32' && fits && gainsFromSplitting(shape, devices)
  if (type !== 'f32')
    throw new GpuError('validation', `The precision 'split' needs type f32, but the type is ${type}.`)
  const without = devices.find((device) => !hasSplitProducts(device))
  if (without !== undefined)
    throw new GpuError(
      'unsupported',
      `The precision 'split' needs f16 products of subgroup matrices, which device ${without.ordinal} (${without.info.name}) does not support.`,
    )
  if (!fits)
    throw new GpuError(
      'too-large',
      `The f16 parts of ${shape.m} × ${shape.k} by ${shape.k} × ${shape.n} do not fit in the devices' memory together with the matrices.`,
    )
  return true
}
