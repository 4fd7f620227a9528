import {
  type BufferView,
  type CompileOptions,
  compileAll,
  type Device,
  type DeviceBuffer,
  type DeviceGroup,
  type ElementArray,
  elementArray,
  foldWorkgroups,
  GpuError,
  type Kernel,
  OwnedResources,
  type Recorder,
} from '@tandem-gpu/core'
import type { AlgorithmOptions, GeneratedInputOptions } from '../algorithm-options.ts'
import { type ElementSink, type ElementSource, readElements, requireLength } from '../element-source.ts'
import { requireArguments } from '../option-types.ts'
import { describeGroup, gigaRate, notVerified, type Report } from '../report.ts'
import { runMeasured } from '../run-measured.ts'
import { type RowRange, splitRows } from '../sharded-matrix.ts'
import elementF32 from './element-f32.part.wgsl.ts'
import halfAccess from './half-access.part.wgsl.ts'
import { generatedHalves } from './half-elements.ts'
import halfProduct from './half-product.part.wgsl.ts'
import halfRound from './half-round.part.wgsl.ts'
import type { MatmulShape } from './matmul-shape.ts'
import params from './params.part.wgsl.ts'
import { devicesByUse } from './predict-matmul.ts'
import registers from './registers.part.wgsl.ts'
import { hasHalfProducts } from './split-kernels.ts'
import tensorPlace from './tensor-place.part.wgsl.ts'
import { halfVerifier } from './verify-half.ts'
import { resultOfAll } from './verify-matmul.ts'

/** Products of f16 with sums in f32. Matrices are the bits of f16 in a `Uint16Array`; they stay on the devices for the timed runs. */
export interface HalfMatmulOptions extends MatmulShape, AlgorithmOptions, GeneratedInputOptions {
  readonly type: 'f16'
  /** `f16`: the sums are rounded to the nearest, ties to even, beyond the largest f16 to infinity. Default `f16`. */
  readonly resultType?: 'f16' | 'f32' | undefined
  /** m × k, row-major. Default: reproducible random elements from `seed`. */
  readonly a?: ElementSource<'f16'> | undefined
  /** k × n, row-major. */
  readonly b?: ElementSource<'f16'> | undefined
  /** Takes the m × n result, row-major: f16, or f32 if that is the type of the result. */
  readonly output?: ElementSink<'f16'> | ElementSink<'f32'> | undefined
  /** How many devices of the group compute, each some rows of A by all of B. Default: all. */
  readonly devices?: number | undefined
}

export interface HalfMatmulReport extends Report {
  readonly algorithm: 'matmul'
  readonly type: 'f16'
  readonly resultType: 'f16' | 'f32'
  /** `tensor`: subgroup matrices. `registers`: products of f32, for devices without them. */
  readonly body: 'tensor' | 'registers'
  readonly slices: readonly number[]
  readonly samples: readonly number[]
}

const tile = 128
const up = (value: number, multiple: number) => Math.ceil(value / multiple) * multiple

/** The kernels of products of f16. */
export function halfSources(): { tensor: CompileOptions; registers: CompileOptions; round: CompileOptions } {
  const join = (...parts: readonly string[]) => parts.join('\n')
  return {
    tensor: { label: 'matmul f16 tensor', wgsl: join(halfProduct, tensorPlace) },
    registers: { label: 'matmul f16 registers', wgsl: join(elementF32, params, halfAccess, registers) },
    round: { label: 'matmul f16 round', wgsl: halfRound },
  }
}

/** One device's part: its rows of A and C, and all of B, padded with zeros to whole tiles. */
interface Part extends RowRange {
  readonly device: Device
  readonly a: DeviceBuffer<'u32'>
  readonly b: DeviceBuffer<'u32'>
  readonly sums: DeviceBuffer<'f32'>
  readonly rounded: DeviceBuffer<'u32'> | undefined
}

/** C = A · B of f16; see `matmul`. */
export async function matmulHalf(group: DeviceGroup, options: HalfMatmulOptions): Promise<HalfMatmulReport> {
  requireArguments(group, options, optionTypes, ['m', 'n', 'k'])
  const { m, n, k, resultType = 'f16', schedule = 'overlapped', verify = true, seed = 1 } = options
  for (const [name, value] of Object.entries({ m, n, k }))
    if (!Number.isSafeInteger(value) || value < 0)
      throw new GpuError('validation', `${name} is ${value}, which is not a size.`)
  for (const name of ['streamWidth', 'memoryLimitBytes', 'precision'] as const)
    if (name in options && (options as unknown as Record<string, unknown>)[name] !== undefined)
      throw new GpuError('unsupported', `The option ${name} is not for matrices of f16.`)
  const ordered = devicesByUse(group)
  const count = options.devices ?? ordered.length
  if (!(Number.isInteger(count) && count >= 1 && count <= ordered.length))
    throw new GpuError('validation', `${count} devices are asked for; the group has ${ordered.length}.`)
  const devices = ordered.slice(0, count).sort((x, y) => x.ordinal - y.ordinal)
  const a = options.a ?? generatedHalves(seed)
  const b = options.b ?? generatedHalves(seed + 1)
  requireLength('A', a, m * k)
  requireLength('B', b, k * n)
  if (options.output) requireLength('C', options.output, m * n)
  const body = devices.every(hasHalfProducts) ? 'tensor' : 'registers'
  const { tensor, registers: ordinary, round } = halfSources()
  const owned = new OwnedResources()
  try {
    const { kernels, destroy } = await compileAll(group, {
      product: body === 'tensor' ? tensor : ordinary,
      round: resultType === 'f16' ? round : undefined,
    })
    const ranges = splitRows(m, devices.length)
    owned.keep({ destroy })
    const parts: Part[] = []
    for (const [i, device] of devices.entries()) {
      const range = ranges[i]!
      const [rows, columns, depth] = [up(range.rows, tile), up(n, tile), up(k, tile)]
      const make = async <T extends 'u32' | 'f32'>(type: T, shape: [number, number], label: string) => {
        return owned.keep(await device.allocate(type, shape, { label: `${label}[${i}]` }))
      }
      parts.push({
        ...{ device, ...range },
        a: await make('u32', [rows, depth / 2], 'A'),
        b: await make('u32', [depth, columns / 2], 'B'),
        sums: await make('f32', [rows, columns], 'C'),
        rounded: resultType === 'f16' ? await make('u32', [rows, columns / 2], 'C rounded') : undefined,
      })
    }
    for (const part of parts) {
      if (!part.device.local) continue
      await writeHalves(group, part.a, a, part.row, part.rows, k)
      await writeHalves(group, part.b, b, 0, k, n)
    }
    const { measurement, comparison } = await runMeasured(
      group,
      (recorder) => {
        for (const part of parts) if (part.rows * n > 0) record(recorder, kernels, body, part, { m, n, k })
      },
      { ...options, label: 'matmul f16' },
    )
    const verifier = verify ? await halfVerifier({ m, n, k }, a, b) : undefined
    for (const part of parts) await deliver(group, part, n, options.output, verifier)
    const flops = 2 * m * n * k
    return {
      algorithm: 'matmul',
      ...describeGroup(group, devices),
      schedule,
      shape: { m, n, k },
      ...{ type: 'f16', resultType, body, slices: ranges.map((range) => range.rows) },
      ...(verifier ? await resultOfAll(verifier, { group, devices }) : notVerified),
      seconds: measurement.seconds,
      clock: measurement.clock,
      samples: measurement.samples,
      flops,
      rate: gigaRate(flops, measurement.seconds),
      unit: 'GFLOP/s',
      notes: [],
      ...(comparison && { comparison }),
    }
  } finally {
    owned.destroy()
  }
}

const optionTypes = {
  m: 'number',
  n: 'number',
  k: 'number',
  type: ['f16'],
  resultType: ['f16', 'f32'],
  a: 'elements',
  b: 'elements',
  output: 'elements',
  devices: 'number',
} as const

function record(
  recorder: Recorder,
  kernels: { readonly product: Kernel; readonly round: Kernel | undefined },
  body: HalfMatmulReport['body'],
  { device, a, b, sums, rounded, rows }: Part,
  { n, k }: MatmulShape,
): void {
  if (k === 0) recorder.fill(sums, 0, { label: 'product' })
  else {
    const edge = body === 'tensor' ? tile : 32
    recorder.dispatch(kernels.product, {
      device: device.ordinal,
      workgroups: foldWorkgroups(Math.ceil(rows / edge) * Math.ceil(n / edge), device),
      args:
        body === 'tensor'
          ? { a, b, c: sums, m: rows, n, k: up(k, tile) }
          : { a, b, c: sums, m: rows, n, k, k_chunk: k },
      label: 'product',
    })
  }
  if (rounded === undefined || kernels.round === undefined) return
  const words = Math.ceil(n / 2)
  recorder.dispatch(kernels.round, {
    device: device.ordinal,
    workgroups: foldWorkgroups(Math.ceil(rows / 4) * Math.ceil(words / 64), device),
    args: { x: sums, rounded, rows, words },
    label: 'round',
  })
}

/** Rows that are moved at a time: 32 MiB of f16. */
const rowsAtOnce = (columns: number) => Math.max(1, Math.floor(2 ** 24 / Math.max(1, columns)))

/** Writes `rows` rows of `columns` elements, from row `first` of the source on, into padded rows of words. */
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

/** Passes a device's rows of C to the caller's sink, in every process, and to the verifier of its own. */
async function deliver(
  group: DeviceGroup,
  { device, row: first, rows, sums, rounded }: Part,
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
      rounded === undefined
        ? await group.queue.read<'f32'>(sums.block(row, 0, count, n), { to })
        : await readHalves(group, rounded, row, count, n, to)
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
