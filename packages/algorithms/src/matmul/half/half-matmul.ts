import {
  type BufferView,
  type DeviceGroup,
  type ElementArray,
  elementArray,
  GpuError,
  OwnedResources,
  requireCount,
} from '@tandem-gpu/core'
import type { AlgorithmOptions, GeneratedInputOptions } from '../../algorithm-options.ts'
import { type ElementSink, type ElementSource, readElements, requireElements } from '../../element-source.ts'
import { devicesOptions, requireArguments } from '../../option-types.ts'
import { notVerified, type Report } from '../../report.ts'
import { describeRun, runMeasured } from '../../run-measured.ts'
import { type ChooseDevicesOptions, chooseDevices } from '../choose/choose-devices.ts'
import type { MatmulPrediction } from '../choose/predict-matmul.ts'
import type { MatmulShape } from '../matmul-shape.ts'
import { productOptionTypes } from '../product-operands.ts'
import { halfVerifier } from '../verify/verify-half.ts'
import { resultOfAll } from '../verify/verify-matmul.ts'
import { generatedHalves } from './half-elements.ts'
import { chooseHalfBlocking, compileHalf, type HalfBody } from './half-kernels.ts'
import { allocateHalfPart, type HalfPart, halfObstacle, recordHalf } from './record-half.ts'

/**
 * Options of `matmul` for f16 matrices with sums in f32. Matrices are f16 bits in a `Uint16Array`; they stay
 * on the devices for the timed runs.
 */
export interface HalfMatmulOptions
  extends MatmulShape,
    AlgorithmOptions,
    GeneratedInputOptions,
    ChooseDevicesOptions {
  readonly type: 'f16'
  /**
   * The element type of the result. For `f16`, sums are rounded to nearest, ties to even; values beyond the
   * largest f16 become infinite. Default `f16`.
   */
  readonly resultType?: 'f16' | 'f32' | undefined
  /** m × k, row-major. Default: reproducible random elements from `seed`. */
  readonly a?: ElementSource<'f16'> | undefined
  /** k × n, row-major. */
  readonly b?: ElementSource<'f16'> | undefined
  /** Receives the m × n result, row-major: f16, or f32 if that is the type of the result. */
  readonly output?: ElementSink<'f16'> | ElementSink<'f32'> | undefined
  /** The matrices stay on the devices; nothing is streamed. */
  readonly mode?: 'resident' | undefined
  readonly signal?: AbortSignal | undefined
}

/** The report of `matmul` for f16. */
export interface HalfMatmulReport extends Report {
  readonly algorithm: 'matmul'
  readonly type: 'f16'
  readonly resultType: 'f16' | 'f32'
  readonly mode: 'resident'
  readonly body: HalfBody
  /** The number of rows of A and C on each device that is used. */
  readonly slices: readonly number[]
  readonly prediction: MatmulPrediction
  /** The reasons for the chosen method, one sentence for each decision. */
  readonly reasons: readonly string[]
  readonly samples: readonly number[]
}

/** C = A · B for f16; see `matmul`. */
export async function matmulHalf(group: DeviceGroup, given: HalfMatmulOptions): Promise<HalfMatmulReport> {
  const options = requireArguments(group, 'matmul', given, optionTypes, ['m', 'n', 'k'])
  const { m, n, k, resultType = 'f16', verify = true, seed = 1 } = options
  for (const [name, value] of Object.entries({ m, n, k })) requireCount(value, `The option ${name}`)
  const named = options as unknown as Readonly<Record<string, unknown>>
  for (const name of ['streamWidth', 'memoryLimitBytes', 'precision'])
    if (named[name] !== undefined)
      throw new GpuError('unsupported', `The option ${name} cannot be used with matrices of f16.`)
  if (named.mode === 'streamed')
    throw new GpuError('unsupported', "The mode 'streamed' cannot be used with matrices of f16.")
  const shape: MatmulShape = { m, n, k }
  const a = options.a ?? generatedHalves(seed)
  const b = options.b ?? generatedHalves(seed + 1)
  requireElements('A', a, 'f16', m * k)
  requireElements('B', b, 'f16', k * n)
  if (options.output) requireElements('C', options.output, resultType, m * n)
  const { prediction, devices, ranges, reasons } = await chooseDevices(group, shape, 'f16', options, () => ({
    streamed: false,
    gathers: false,
  }))
  const blocking = chooseHalfBlocking(shape, ranges[0]!.rows, devices)
  const obstacle = halfObstacle(shape, blocking, resultType, ranges[0]!.rows, devices)
  if (obstacle !== undefined) throw new GpuError('too-large', obstacle)
  const owned = new OwnedResources()
  try {
    const kernels = owned.keep(await compileHalf(group, blocking, resultType))
    const parts: HalfPart[] = []
    for (const [i, device] of devices.entries())
      parts.push(await allocateHalfPart(owned, device, ranges[i]!, shape, blocking, resultType))
    for (const part of parts) {
      if (!part.device.local) continue
      await writeHalves(group, part.a, a, part.row, part.rows, k)
      await writeHalves(group, part.b, b, 0, k, n)
    }
    const run = await runMeasured(
      group,
      (recorder) => {
        for (const part of parts) if (part.rows * n > 0) recordHalf(recorder, kernels, part, shape)
      },
      { ...options, label: 'matmul f16' },
    )
    const verifier = verify ? await halfVerifier(shape, a, b) : undefined
    for (const part of parts) await deliver(group, part, n, options.output, verifier)
    return {
      algorithm: 'matmul',
      ...describeRun(group, run, { flops: 2 * m * n * k }, devices),
      shape: { m, n, k },
      type: 'f16',
      resultType,
      mode: 'resident',
      body: blocking.body,
      slices: ranges.map((range) => range.rows),
      prediction,
      reasons: [
        ...reasons,
        `Products are formed ${blocking.body === 'tensor' ? 'on tensor cores, which every device has' : 'in f32: a device has no tensor cores'}.`,
      ],
      ...(verifier ? await resultOfAll(verifier, { group, devices }) : notVerified),
      samples: run.measurement.samples,
      notes: prediction.chosen === prediction.best ? [] : [prediction.reason],
    }
  } finally {
    owned.destroy()
  }
}

const optionTypes = {
  ...productOptionTypes,
  type: ['f16'],
  resultType: ['f16', 'f32'],
  ...devicesOptions,
  mode: ['resident', 'streamed'],
  // Rejected with an explanation.
  streamWidth: 'any',
  memoryLimitBytes: 'any',
  precision: 'any',
} as const

/** The number of rows that are transferred at a time: 32 MiB of f16. */
const rowsAtOnce = (columns: number) => Math.max(1, Math.floor(2 ** 24 / Math.max(1, columns)))

/**
 * Writes `rows` rows of `columns` elements, starting at row `first` of the source, into padded rows of words.
 */
async function writeHalves(
  group: DeviceGroup,
  target: BufferView<'u32'>,
  source: ElementSource<'f16'>,
  first: number,
  rows: number,
  columns: number,
): Promise<void> {
  if (columns === 0) return
  const width = target.columns * 2
  for (let row = 0; row < rows; row += rowsAtOnce(width)) {
    const count = Math.min(rowsAtOnce(width), rows - row)
    const data = await readElements(source, 'f16', (first + row) * columns, count * columns)
    const padded = new Uint16Array(count * width)
    for (let i = 0; i < count; i++) padded.set(data.subarray(i * columns, (i + 1) * columns), i * width)
    await group.queue.write(target.block(row, 0, count, target.columns), new Uint32Array(padded.buffer))
  }
}

/**
 * Passes a device's rows of C to the caller's sink, in every process, and to the verifier, in the device's
 * own process.
 */
async function deliver(
  group: DeviceGroup,
  { device, row: first, rows, c }: HalfPart,
  n: number,
  sink: HalfMatmulOptions['output'],
  verifier: Awaited<ReturnType<typeof halfVerifier>> | undefined,
): Promise<void> {
  const { local } = device
  if (n === 0 || (sink === undefined && (verifier === undefined || !local))) return
  const to = sink === undefined ? 'owner' : 'all'
  for (let row = 0; row < rows; row += rowsAtOnce(n)) {
    const count = Math.min(rowsAtOnce(n), rows - row)
    const data =
      c.type === 'f32'
        ? await group.queue.read<'f32'>(c.block(row, 0, count, n), { to })
        : await readHalves(group, c, row, count, n, to)
    if (data === undefined) continue
    const at = (first + row) * n
    if (typeof sink === 'function') await sink(at, data as never)
    else sink?.set(data as never, at)
    if (local) await verifier?.rows(first + row, data)
  }
}

async function readHalves(
  group: DeviceGroup,
  view: BufferView<'u32'>,
  row: number,
  rows: number,
  columns: number,
  to: 'all' | 'owner',
): Promise<ElementArray<'f16'> | undefined> {
  const words = Math.ceil(columns / 2)
  const read: ElementArray<'u32'> | undefined = await group.queue.read(view.block(row, 0, rows, words), {
    to,
  })
  if (read === undefined) return undefined
  const halves = new Uint16Array(read.buffer, read.byteOffset, read.length * 2)
  const result = elementArray('f16', rows * columns)
  for (let i = 0; i < rows; i++)
    result.set(halves.subarray(i * words * 2, i * words * 2 + columns), i * columns)
  return result
}
