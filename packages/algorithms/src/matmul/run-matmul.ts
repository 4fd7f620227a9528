import {
  type Device,
  type DeviceGroup,
  type ElementArray,
  type HostBuffer,
  OwnedResources,
} from '@tandem-gpu/core'
import { type ElementSink, type ElementSource, streamChunkLength } from '../element-source.ts'
import { notVerified, type Verification } from '../report.ts'
import { type MeasuredRun, type RunMeasuredOptions, runMeasured } from '../run-measured.ts'
import { type MatrixSlice, type ShardedMatrix, splitRows, writeSharded } from '../sharded-matrix.ts'
import type { MatmulKernels, MatmulShape, MatmulType } from './matmul-kernels.ts'
import { padded } from './matmul-memory.ts'
import type { StreamPlan } from './plan-stream.ts'
import { recordShardedMatmul } from './record-matmul.ts'
import { recordStreamedMatmul } from './record-stream.ts'
import { type MatmulVerifier, matmulVerifier } from './verify-matmul.ts'

/** One product, for which everything is chosen. */
export interface MatmulRun<T extends MatmulType> {
  readonly group: DeviceGroup
  readonly shape: MatmulShape
  readonly type: T
  readonly a: ElementSource<T> | HostBuffer<T>
  readonly b: ElementSource<T> | HostBuffer<T>
  readonly output: ElementSink<T> | HostBuffer<T> | undefined
  readonly devices: readonly Device[]
  readonly kernels: MatmulKernels
  readonly verify: boolean
  /** Products are formed from f16 parts. */
  readonly split: boolean
  readonly options: RunMeasuredOptions
}

export interface MatmulOutcome extends MeasuredRun {
  readonly verification: Verification
}

/** Keeps the matrices on the devices. The program includes gathering B. */
export async function runResident<T extends MatmulType>(run: MatmulRun<T>): Promise<MatmulOutcome> {
  const { group, shape, type, devices, kernels } = run
  const { m, n, k } = shape
  const owned = new OwnedResources()
  try {
    const matrix = async (label: string, rows: number, columns: number): Promise<PaddedMatrix<T>> => {
      const ranges = splitRows(rows, devices.length)
      const slices: { whole: MatrixSlice<T>; cropped: MatrixSlice<T> }[] = []
      for (const [index, device] of devices.entries()) {
        const range = ranges[index]!
        const buffer = owned.keep(
          await device.allocate(type, [range.rows, padded(columns)], { label: `${label}[${index}]` }),
        )
        slices.push({
          whole: { device, ...range, view: buffer },
          cropped: { device, ...range, view: buffer.block(0, 0, range.rows, columns) },
        })
      }
      const sharded = (width: number, which: 'whole' | 'cropped'): ShardedMatrix<T> => ({
        type,
        rows,
        columns: width,
        slices: slices.map((slice) => slice[which]),
        destroy() {},
      })
      return { whole: sharded(padded(columns), 'whole'), cropped: sharded(columns, 'cropped') }
    }
    const a = await matrix('A', m, k)
    const b = await matrix('B', k, n)
    const c = await matrix('C', m, n)
    await writeSharded(group, a.cropped, source(run.a))
    await writeSharded(group, b.cropped, source(run.b))
    const measured = await runMeasured(
      group,
      (recorder) => recordShardedMatmul(recorder, () => kernels, a.whole, b.whole, c.whole),
      { ...run.options, label: 'matmul' },
    )
    const rowsAtOnce = Math.max(1, Math.floor(streamChunkLength / Math.max(1, n)))
    const verification = await deliver(run, async (take) => {
      if (n === 0) return
      for (const { row, rows, view } of c.cropped.slices)
        for (let top = 0; top < rows; top += rowsAtOnce) {
          const count = Math.min(rowsAtOnce, rows - top)
          await take(row + top, await group.queue.read(view.block(top, 0, count, n)))
        }
    })
    return { ...measured, verification }
  } finally {
    owned.destroy()
  }
}

interface PaddedMatrix<T extends MatmulType> {
  /** With the padding columns. */
  readonly whole: ShardedMatrix<T>
  readonly cropped: ShardedMatrix<T>
}

/** Keeps the matrices in host memory. The program includes all transfers. */
export async function runStreamed<T extends MatmulType>(
  run: MatmulRun<T>,
  plan: StreamPlan,
): Promise<MatmulOutcome> {
  const { group, shape, type, devices, kernels } = run
  const { m, n, k } = shape
  const owned = new OwnedResources()
  try {
    const onHost = async (data: MatmulRun<T>['a'], length: number, label: string) => {
      if (isHostBuffer(data)) return data
      const host = owned.keep(group.allocateHost(type, length, { label }))
      for (let offset = 0; offset < length; offset += streamChunkLength) {
        const into = host.array.subarray(offset, offset + streamChunkLength) as ElementArray<T>
        if (typeof data === 'function') await data(offset, into)
        else into.set(data.subarray(offset, offset + into.length) as never)
      }
      return host
    }
    const a = await onHost(run.a, m * k, 'A')
    const b = await onHost(run.b, k * n, 'B')
    const c: HostBuffer<T> = isHostBuffer<T>(run.output)
      ? run.output
      : owned.keep(group.allocateHost(type, m * n, { label: 'C' }))
    const measured = await runMeasured(
      group,
      (recorder) => recordStreamedMatmul(recorder, group, devices, () => kernels, shape, { a, b, c }, plan),
      { ...run.options, label: 'matmul streamed' },
    )
    const rowsAtOnce = Math.max(1, Math.floor(streamChunkLength / n))
    const verification = await deliver(run, async (take) => {
      for (let row = 0; row < m; row += rowsAtOnce) {
        const count = Math.min(rowsAtOnce, m - row)
        await take(row, c.array.subarray(row * n, (row + count) * n) as ElementArray<T>)
      }
    })
    return { ...measured, verification }
  } finally {
    owned.destroy()
  }
}

/** Passes C, in pieces and in ascending order, to the caller's sink and to the verifier. */
async function deliver<T extends MatmulType>(
  run: MatmulRun<T>,
  read: (take: (row: number, data: ElementArray<T>) => Promise<void>) => Promise<void>,
): Promise<Verification> {
  const { n } = run.shape
  const verifier: MatmulVerifier | undefined = run.verify
    ? await matmulVerifier(run.type, run.shape, source(run.a), source(run.b), run.split)
    : undefined
  const sink = run.output
  await read(async (row, data) => {
    if (typeof sink === 'function') await sink(row * n, data)
    else if (sink) {
      const array = isHostBuffer(sink) ? sink.array : sink
      if (array.buffer !== data.buffer) array.set(data as never, row * n)
    }
    await verifier?.rows(row, data)
  })
  return verifier?.result() ?? notVerified
}

function source<T extends MatmulType>(data: ElementSource<T> | HostBuffer<T>): ElementSource<T> {
  return isHostBuffer(data) ? data.array : data
}

function isHostBuffer<T extends MatmulType>(data: unknown): data is HostBuffer<T> {
  return typeof data === 'object' && data !== null && 'array' in data
}
