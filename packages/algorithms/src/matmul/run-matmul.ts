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
import {
  type MatrixSlice,
  type RowRange,
  type ShardedMatrix,
  splitRows,
  writeSharded,
} from '../sharded-matrix.ts'
import { padded } from './choose/matmul-memory.ts'
import type { MatmulShape, MatmulType } from './matmul-shape.ts'
import type { MatmulKernels } from './single/matmul-kernels.ts'
import { recordShardedMatmul } from './single/record-matmul.ts'
import type { StreamPlan } from './stream/plan-stream.ts'
import { type HostMatrix, recordStreamedMatmul } from './stream/record-stream.ts'
import { type MatmulVerifier, matmulVerifier, resultOfAll } from './verify/verify-matmul.ts'

/** One product, for which all choices have been made. */
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
  /** Whether products are computed from f16 parts. */
  readonly split: boolean
  /** The number of columns of B that a device gathers at a time. */
  readonly panelColumns: number
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
      (recorder) =>
        recordShardedMatmul(recorder, () => kernels, a.whole, b.whole, c.whole, {
          panelColumns: run.panelColumns,
        }),
      { ...run.options, label: 'matmul' },
    )
    const rowsAtOnce = Math.max(1, Math.floor(streamChunkLength / Math.max(1, n)))
    const verification = await deliver(run, async (take, to) => {
      if (n === 0) return
      for (const { device, row, rows, view } of c.cropped.slices) {
        if (to === 'owner' && !device.local) continue
        for (let top = 0; top < rows; top += rowsAtOnce) {
          const count = Math.min(rowsAtOnce, rows - top)
          const data = await group.queue.read<T>(view.block(top, 0, count, n), { to })
          await take(row + top, data!, device)
        }
      }
    })
    return { ...measured, verification }
  } finally {
    owned.destroy()
  }
}

interface PaddedMatrix<T extends MatmulType> {
  /** The matrix with its padding columns. */
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
    const allocate = (label: string, length: number, device?: Device) =>
      owned.keep(group.allocateHost(type, length, { label, ...(device && { device }) }))
    /** Fills host memory with the elements from `first` on; memory of another process is empty here. */
    const filled = async (host: HostBuffer<T>, data: ElementSource<T>, first = 0) => {
      for (let offset = 0; offset < host.array.length; offset += streamChunkLength) {
        const into = host.array.subarray(offset, offset + streamChunkLength) as ElementArray<T>
        if (typeof data === 'function') await data(first + offset, into)
        else into.set(data.subarray(first + offset, first + offset + into.length) as never)
      }
      return host
    }
    // With several processes, each holds the rows of A and C that its devices compute, and a share of the
    // rows of B.
    const ranges = splitRows(m, devices.length)
    const placed = group.rankCount > 1
    const ofDevices = (label: string, parts: readonly RowRange[], columns: number) =>
      parts.map(({ rows }, i) =>
        rows > 0 ? allocate(`${label} ${i}`, rows * columns, devices[i]) : undefined,
      )
    const operand = async (
      label: string,
      data: ElementSource<T> | HostBuffer<T>,
      rows: number,
      columns: number,
    ): Promise<HostMatrix<T>> => {
      if (isHostBuffer<T>(data)) return data
      if (!placed) return filled(allocate(label, rows * columns), data)
      const parts = splitRows(rows, devices.length)
      const hosts = ofDevices(label, parts, columns)
      for (const [i, host] of hosts.entries()) if (host) await filled(host, data, parts[i]!.row * columns)
      return hosts
    }
    const a = await operand('A', run.a, m, k)
    const b = await operand('B', run.b, k, n)
    const c = placed
      ? ofDevices('C', ranges, n)
      : isHostBuffer(run.output)
        ? run.output
        : allocate('C', m * n)
    const measured = await runMeasured(
      group,
      (recorder) =>
        recordStreamedMatmul(recorder, group, {
          devices,
          kernels: () => kernels,
          shape,
          host: { a, b, c },
          plan,
        }),
      { ...run.options, label: 'matmul streamed' },
    )
    const rowsAtOnce = Math.max(1, Math.floor(streamChunkLength / n))
    const verification = await deliver(run, async (take, to) => {
      const whole = 'array' in c ? c.array : undefined
      if (whole === undefined && to === 'all')
        return readPlaced(run, c as readonly (HostBuffer<T> | undefined)[], ranges, rowsAtOnce, take)
      for (const [i, { row, rows }] of ranges.entries()) {
        if (to === 'owner' && !devices[i]!.local) continue
        const array = whole?.subarray(row * n) ?? (c as readonly (HostBuffer<T> | undefined)[])[i]?.array
        for (let top = 0; top < rows; top += rowsAtOnce) {
          const count = Math.min(rowsAtOnce, rows - top)
          await take(row + top, array!.subarray(top * n, (top + count) * n) as ElementArray<T>, devices[i]!)
        }
      }
    })
    return { ...measured, verification }
  } finally {
    owned.destroy()
  }
}

/** Receives rows of C, starting at `row`, that a device computed. */
type TakeRows<T extends MatmulType> = (row: number, data: ElementArray<T>, device: Device) => Promise<void>

/**
 * Sends rows from the host memory of their devices' processes to every process, in bounded pieces and in
 * ascending order.
 */
async function readPlaced<T extends MatmulType>(
  { group, type, devices, shape: { n } }: MatmulRun<T>,
  parts: readonly (HostBuffer<T> | undefined)[],
  ranges: readonly RowRange[],
  rowsAtOnce: number,
  take: TakeRows<T>,
): Promise<void> {
  const most = Math.min(rowsAtOnce, Math.max(...ranges.map(({ rows }) => rows)))
  const piece = group.allocateHost(type, most * n, { label: 'C in every process' })
  try {
    for (const [i, { row, rows }] of ranges.entries())
      for (let top = 0; top < rows; top += most) {
        const length = Math.min(most, rows - top) * n
        const program = group.record((recorder) =>
          recorder.copy(parts[i]!.slice(top * n, length), piece.slice(0, length), { label: 'read C' }),
        )
        await group.queue.run(program)
        program.destroy()
        await take(row + top, piece.array.slice(0, length) as ElementArray<T>, devices[i]!)
      }
  } finally {
    piece.destroy()
  }
}

/**
 * Passes all of C to the caller's sink, in pieces and in ascending order, and the rows that this process's
 * devices computed to the verifier. `read` is called for all of C in every process, or only for those rows.
 */
async function deliver<T extends MatmulType>(
  run: MatmulRun<T>,
  read: (take: TakeRows<T>, to: 'all' | 'owner') => Promise<void>,
): Promise<Verification> {
  const { n } = run.shape
  const { split } = run
  const verifier: MatmulVerifier | undefined = run.verify
    ? await matmulVerifier(run.type, run.shape, source(run.a), source(run.b), { split, checkers: run })
    : undefined
  const sink = run.output
  if (sink !== undefined || verifier !== undefined)
    await read(
      async (row, data, device) => {
        if (typeof sink === 'function') await sink(row * n, data)
        else if (sink) {
          const array = isHostBuffer(sink) ? sink.array : sink
          if (array.buffer !== data.buffer) array.set(data as never, row * n)
        }
        if (device.local) await verifier?.rows(row, data)
      },
      sink === undefined ? 'owner' : 'all',
    )
  return verifier ? resultOfAll(verifier, run) : notVerified
}

function source<T extends MatmulType>(data: ElementSource<T> | HostBuffer<T>): ElementSource<T> {
  return isHostBuffer(data) ? data.array : data
}

function isHostBuffer<T extends MatmulType>(data: unknown): data is HostBuffer<T> {
  return typeof data === 'object' && data !== null && 'array' in data
}
