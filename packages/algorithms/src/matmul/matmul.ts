import {
  type Device,
  type DeviceGroup,
  GpuError,
  type HostBuffer,
  type Program,
  type Schedule,
} from '@tandem-gpu/core'
import {
  type ElementReader,
  type ElementSink,
  type ElementSource,
  generatedElements,
} from '../element-source.ts'
import type { MeasureOptions } from '../measure.ts'
import { describeGroup, gigaRate, type Report } from '../report.ts'
import { splitRows } from '../sharded-matrix.ts'
import type { TuningOptions } from '../tuning/tuning-store.ts'
import {
  compileMatmul,
  type MatmulBlocking,
  type MatmulShape,
  type MatmulType,
  matmulCandidates,
} from './matmul-kernels.ts'
import { measureMatmulModel } from './measure-model.ts'
import { planStream, type StreamPlan, withTransposedRows } from './plan-stream.ts'
import {
  assumedMatmulModel,
  devicesByUse,
  type MatmulModel,
  type MatmulPrediction,
  predictMatmul,
} from './predict-matmul.ts'
import {
  defaultMemoryByteLength,
  fitsResident,
  type MatmulRun,
  runResident,
  runStreamed,
} from './run-matmul.ts'
import { tuneMatmul } from './tune-matmul.ts'

export interface MatmulOptions<T extends MatmulType = MatmulType>
  extends MatmulShape,
    MeasureOptions,
    TuningOptions {
  /** Default f32. */
  type?: T
  /** m × k, row-major. Default: reproducible random elements from `seed`. A host buffer is streamed from in place. */
  a?: ElementSource<T> | HostBuffer<T>
  /** k × n, row-major. */
  b?: ElementSource<T> | HostBuffer<T>
  /** Takes the m × n result. */
  c?: ElementSink<T> | HostBuffer<T>
  seed?: number
  /** How many devices of the group compute. Default: all. `auto`: as many as the prediction says are worth using. */
  devices?: number | 'auto'
  schedule?: Schedule
  /** Columns of B in a panel. Giving it, or `memoryLimitBytes`, streams the matrices from host memory. Default 2048, on software 256. */
  streamWidth?: number
  /** Device memory that the product may use on each device. Default: 80 % of it, where the device says how much it has. */
  memoryLimitBytes?: number
  /** Default: where the matrices fit the devices, they stay there for the timed runs (`resident`); else they stream through. */
  mode?: 'resident' | 'streamed'
  /** Checks the result against f64. Default true. */
  verify?: boolean
  /** What predictions rest on; `measure` runs a short probe first. Default: assumed figures. */
  model?: MatmulModel | 'measure'
  /** Sees the recorded program before it runs; it is destroyed after. */
  onProgram?: (program: Program) => void
}

export interface MatmulReport extends Report {
  readonly algorithm: 'matmul'
  readonly type: MatmulType
  readonly mode: 'resident' | 'streamed'
  readonly blocking: MatmulBlocking
  /** Rows of A and C that each used device computes. */
  readonly slices: readonly number[]
  readonly stream?: StreamPlan
  readonly prediction: MatmulPrediction
  readonly samples: readonly number[]
}

/** Columns of a panel below which a streamed product keeps A as it is. */
const leastTransposedWidth = 512

/**
 * C = A · B on the devices of the group, any size: A and C in slices of rows, B gathered by every device (resident, the gathering is part
 * of the time) or streamed in panels (streamed, all transfers are part of the time).
 */
export async function matmul<T extends MatmulType = 'f32'>(
  group: DeviceGroup,
  options: MatmulOptions<T>,
): Promise<MatmulReport> {
  const { m, n, k, schedule = 'overlapped', verify = true, seed = 1 } = options
  const type = options.type ?? ('f32' as T)
  const shape: MatmulShape = { m, n, k }
  for (const [name, value] of Object.entries(shape))
    if (!Number.isSafeInteger(value) || value < 0)
      throw new GpuError('validation', `${name} is ${value}, which is not a size.`)
  const a = options.a ?? (generatedElements(type, seed) as ElementReader<T>)
  const b = options.b ?? (generatedElements(type, seed + 1) as ElementReader<T>)
  requireSize('A', a, m * k)
  requireSize('B', b, k * n)
  if (options.c) requireSize('C', options.c, m * n)

  const ordered = devicesByUse(group)
  const wanted = options.devices ?? ordered.length
  if (wanted !== 'auto' && !(Number.isInteger(wanted) && wanted >= 1 && wanted <= ordered.length))
    throw new GpuError('validation', `${wanted} devices are asked for; the group has ${ordered.length}.`)
  const model =
    options.model === 'measure'
      ? await measureMatmulModel(group)
      : (options.model ?? assumedMatmulModel(group))

  const limited = options.streamWidth !== undefined || options.memoryLimitBytes !== undefined
  if (limited && options.mode === 'resident')
    throw new GpuError(
      'validation',
      `A ${options.streamWidth === undefined ? 'memory limit' : 'stream width'} is for matrices that stream through the devices, and the mode is resident.`,
    )
  const modeFor = (devices: readonly Device[]) =>
    m * n * k === 0
      ? 'resident'
      : (options.mode ?? (limited || !fitsResident(shape, devices) ? 'streamed' : 'resident'))
  const memoryLimit = (devices: readonly Device[]) =>
    options.memoryLimitBytes ?? Math.min(...devices.map(defaultMemoryByteLength))
  const planFor = (devices: readonly Device[]) =>
    planStream(shape, devices, {
      streamWidth: options.streamWidth ?? (group.software ? 256 : 2048),
      memoryLimitBytes: memoryLimit(devices),
    })
  const all = ordered.slice(0, wanted === 'auto' ? ordered.length : wanted)
  const streamed = modeFor(all) === 'streamed'
  const outline = streamed ? planFor(all) : undefined
  const prediction = predictMatmul(group, shape, model, {
    streamed,
    ...(outline && { panels: outline.panels, rounds: outline.rounds }),
    ...(wanted !== 'auto' && { chosen: wanted }),
  })
  const devices = ordered.slice(0, prediction.chosen).sort((x, y) => x.ordinal - y.ordinal)
  const mode = modeFor(devices)

  const ranges = splitRows(m, devices.length)
  const without = mode === 'streamed' ? planFor(devices) : undefined
  const withTransposed = without && withTransposedRows(without, k, memoryLimit(devices))
  const part = without ? { m: without.rowBlock, n: without.width, k } : { m: ranges[0]!.rows, n, k }
  const candidates = matmulCandidates(devices[0]!, shape, part.m, {
    split: !without,
    transposed: without
      ? withTransposed !== undefined && without.width >= leastTransposedWidth
      : fitsResident(shape, devices, { transposed: true }),
  })
  const blocking = await tuneMatmul(group, devices[0]!, type, part, candidates, options)
  const plan = blocking.body === 'transposed' ? withTransposed : without
  const kernels = await compileMatmul(group, type, blocking)
  const run: MatmulRun<T> = {
    group,
    shape,
    type,
    a,
    b,
    c: options.c,
    devices,
    schedule,
    kernels,
    verify,
    measure: options,
    onProgram: options.onProgram,
  }
  const { measurement, verification } = await (plan ? runStreamed(run, plan) : runResident(run)).finally(() =>
    kernels.destroy(),
  )

  const flops = 2 * m * n * k
  const notes = prediction.chosen === prediction.best ? [] : [prediction.reason]
  return {
    algorithm: 'matmul',
    ...describeGroup(group),
    devices: devices.length,
    deviceNames: devices.map((device) => device.info.name),
    schedule,
    shape: { m, n, k },
    type,
    mode: plan ? 'streamed' : 'resident',
    blocking,
    slices: ranges.map((range) => range.rows),
    ...(plan && { stream: plan }),
    prediction,
    ...verification,
    seconds: measurement.seconds,
    clock: measurement.clock,
    samples: measurement.samples,
    flops,
    rate: gigaRate(flops, measurement.seconds),
    unit: 'GFLOP/s',
    notes,
  }
}

function requireSize(what: string, data: object, length: number): void {
  if ('length' in data && typeof data !== 'function' && data.length !== length)
    throw new GpuError('validation', `${what} holds ${data.length} elements, the shape needs ${length}.`)
}
