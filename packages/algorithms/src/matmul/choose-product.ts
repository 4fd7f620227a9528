import { type Device, type DeviceGroup, GpuError, isGpuError } from '@tandem-gpu/core'
import { characterOf } from '../device-character.ts'
import { type RowRange, splitRows } from '../sharded-matrix.ts'
import type { TuningOptions } from '../tuning/tuning-store.ts'
import { type MatmulBlocking, matmulCandidates } from './matmul-kernels.ts'
import { defaultMemoryByteLength, fitsResident } from './matmul-memory.ts'
import type { MatmulShape, MatmulType } from './matmul-shape.ts'
import { measureMatmulModel } from './measure-model.ts'
import { planStream, type StreamPlan, withSplitParts, withTransposedRows } from './plan-stream.ts'
import {
  assumedMatmulModel,
  devicesByUse,
  type MatmulModel,
  type MatmulPrediction,
  predictMatmul,
} from './predict-matmul.ts'
import { gainsFromSplitting, hasSplitProducts, type MatmulPrecision } from './split-kernels.ts'
import { tuneMatmul } from './tune-matmul.ts'

/** The caller's choices of how a product is computed. */
export interface ChooseProductOptions extends TuningOptions {
  /** How many devices of the group compute. Default: all. `auto`: as many as the prediction recommends. */
  readonly devices?: number | 'auto' | undefined
  /** Columns of B in a panel. Giving it, or `memoryLimitBytes`, streams the matrices from host memory. Default 2048, on software 256. */
  readonly streamWidth?: number | undefined
  /** Device memory that the product may use on each device. Default: 80 % of it, where the device says how much it has. */
  readonly memoryLimitBytes?: number | undefined
  /** Default: where the matrices fit the devices, they stay there for the timed runs (`resident`); else they stream through. */
  readonly mode?: 'resident' | 'streamed' | undefined
  /** The rates that predictions use; `measure` runs a short probe first. Default: assumed figures. */
  readonly model?: MatmulModel | 'measure' | undefined
  /** How products of f32 are formed. Default: `ieee`. `split` needs tensor cores, and memory for the parts. */
  readonly precision?: MatmulPrecision | undefined
  readonly signal?: AbortSignal | undefined
}

/** How one product will be computed: everything that is decided before a kernel is compiled or memory is allocated. */
export interface ProductChoice {
  readonly prediction: MatmulPrediction
  /** In order of their ordinals. */
  readonly devices: readonly Device[]
  /** Rows of A and C that each device computes. */
  readonly ranges: readonly RowRange[]
  readonly blocking: MatmulBlocking
  /** True where products are formed from f16 parts. */
  readonly split: boolean
  /** Present where the matrices stream through the devices; absent where they stay on them. */
  readonly stream?: StreamPlan
}

/** A streamed product with narrower panels does not transpose A. */
const leastTransposedWidth = 512

/**
 * Decides how `shape` is computed on `group`: predicts the time for each number of devices, keeps the matrices on the devices or streams
 * them, and takes the fastest of the blockings (measured where `tuning` is given). Throws `validation` for options that contradict each
 * other, and `too-large` where the memory does not hold one row by one column.
 */
export async function chooseProduct(
  group: DeviceGroup,
  shape: MatmulShape,
  type: MatmulType,
  options: ChooseProductOptions = {},
): Promise<ProductChoice> {
  const { streamWidth, memoryLimitBytes } = options
  const ordered = devicesByUse(group)
  const wanted = options.devices ?? ordered.length
  if (wanted !== 'auto' && !(Number.isInteger(wanted) && wanted >= 1 && wanted <= ordered.length))
    throw new GpuError('validation', `${wanted} devices were requested, but the group has ${ordered.length}.`)
  const limited = streamWidth !== undefined || memoryLimitBytes !== undefined
  if (limited && options.mode === 'resident')
    throw new GpuError(
      'validation',
      `A ${streamWidth === undefined ? 'memory limit' : 'stream width'} is for matrices that stream through the devices, and the mode is resident.`,
    )
  const model =
    options.model === 'measure'
      ? await measureMatmulModel(group)
      : (options.model ?? assumedMatmulModel(group))

  const streams = (devices: readonly Device[]) =>
    shape.m * shape.n * shape.k > 0 &&
    (options.mode === undefined ? limited || !fitsResident(shape, devices) : options.mode === 'streamed')
  const memoryLimit = (devices: readonly Device[]) =>
    memoryLimitBytes ?? Math.min(...devices.map(defaultMemoryByteLength))
  const planFor = (devices: readonly Device[], limit = memoryLimit(devices)) =>
    planStream(shape, devices, {
      streamWidth: streamWidth ?? characterOf(group).streamWidth,
      memoryLimitBytes: limit,
    })
  /** The plan with memory for f16 parts, which take as much as the matrices. */
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

  const all = ordered.slice(0, wanted === 'auto' ? ordered.length : wanted)
  const outline = streams(all) ? planFor(all) : undefined
  const prediction = predictMatmul(group, shape, model, {
    streamed: outline !== undefined,
    ...(outline && { panels: outline.panels, rounds: outline.rounds }),
    ...(wanted !== 'auto' && { chosen: wanted }),
  })
  const devices = ordered.slice(0, prediction.chosen).sort((x, y) => x.ordinal - y.ordinal)
  const ranges = splitRows(shape.m, devices.length)

  const plain = streams(devices) ? planFor(devices) : undefined
  const transposed = plain && withTransposedRows(plain, shape.k, memoryLimit(devices))
  const asksForParts = (options.precision ?? 'ieee') !== 'ieee'
  const splitStream = plain && asksForParts ? splitPlanFor(plain, devices) : undefined
  const fits = plain ? splitStream !== undefined : fitsResident(shape, devices, { split: true })
  const split = choosesSplit(shape, type, devices, fits, options.precision)
  const part = plain ? { m: plain.rowBlock, n: plain.width, k: shape.k } : { ...shape, m: ranges[0]!.rows }
  const candidates = matmulCandidates(devices[0]!, shape, part.m, {
    inTurn: plain !== undefined,
    transposed: plain
      ? !split && transposed !== undefined && plain.width >= leastTransposedWidth
      : !split && fitsResident(shape, devices, { transposed: true }),
  })
  const blocking = split
    ? candidates[0]
    : await tuneMatmul(group, devices[0]!, type, part, candidates, options)
  const stream = split ? splitStream : blocking.body === 'transposed' ? transposed : plain
  return { prediction, devices, ranges, blocking, split, ...(stream && { stream }) }
}

/** Whether products are formed from f16 parts. Throws where that is asked for and cannot be done. */
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
    throw new GpuError('validation', `The precision is 'split', which is for f32; the type is ${type}.`)
  const without = devices.find((device) => !hasSplitProducts(device))
  if (without !== undefined)
    throw new GpuError(
      'unsupported',
      `The precision is 'split', which needs f16 products of subgroup matrices; device ${without.ordinal} (${without.info.name}) has none.`,
    )
  if (!fits)
    throw new GpuError(
      'too-large',
      `The f16 parts of ${shape.m} × ${shape.k} by ${shape.k} × ${shape.n} do not fit into the devices' memory together with the matrices.`,
    )
  return true
}
