import type { DeviceGroup, Program, Recorder } from '@tandem-gpu/core'
import { type Decomposition, decompose } from '../../packages/algorithms/src/jacobi/decomposition.ts'
import { allocateField } from '../../packages/algorithms/src/jacobi/jacobi-field.ts'
import { JacobiIteration } from '../../packages/algorithms/src/jacobi/jacobi-iteration.ts'
import { compileJacobi, fusedSweeps } from '../../packages/algorithms/src/jacobi/jacobi-kernels.ts'
import {
  chooseBlocking,
  compileMatmul,
  type MatmulBlocking,
} from '../../packages/algorithms/src/matmul/single/matmul-kernels.ts'
import { recordShardedMatmul } from '../../packages/algorithms/src/matmul/single/record-matmul.ts'
import { planStream } from '../../packages/algorithms/src/matmul/stream/plan-stream.ts'
import { recordStreamedMatmul } from '../../packages/algorithms/src/matmul/stream/record-stream.ts'
import { recordReduction } from '../../packages/algorithms/src/reduction/record-reduction.ts'
import { compileReduction, leafLength } from '../../packages/algorithms/src/reduction/reduction-kernels.ts'
import { type RingScheme, recordRing } from '../../packages/algorithms/src/ring/record-ring.ts'
import { ringBlocking } from '../../packages/algorithms/src/ring/ring-matmul.ts'
import { allocateRing } from '../../packages/algorithms/src/ring/ring-memory.ts'
import { allocateSharded, splitRows } from '../../packages/algorithms/src/sharded-matrix.ts'
import { recordTranspose } from '../../packages/algorithms/src/transpose/record-transpose.ts'
import { compileTranspose } from '../../packages/algorithms/src/transpose/transpose-kernels.ts'

export type RecordedPlan = Program['plan']

/** A recorded program, with the parameters that its kernels do not contain. */
export interface Recorded {
  readonly plan: RecordedPlan
  /** Only for products. */
  readonly blocking?: MatmulBlocking
  /** The number of sweeps in one repetition of Jacobi's iteration. */
  readonly sweeps?: number
}

/** Records a program on a group, as the algorithm does by default. */
export type RecordProgram = (group: DeviceGroup) => Promise<Recorded>

/** A transpose of f32, side × side. */
export function transposeOf(side: number, transport: 'auto' | 'copy' = 'auto'): RecordProgram {
  return async (group) => {
    const input = await allocateSharded(group, 'f32', side, side)
    const output = await allocateSharded(group, 'f32', side, side)
    const kernel = await compileTranspose(group, { type: 'f32' })
    return recorded(group, (r) => void recordTranspose(r, group, { kernel, input, output, transport }))
  }
}

/** A sum of f32 elements. */
export function sumOf(elements: number): RecordProgram {
  return async (group) => {
    const kernels = await compileReduction(group, { kernel: 'best', operation: 'sum', type: 'f32' })
    const data = await allocateSharded(group, 'f32', elements, 1, { alignment: leafLength })
    const output = await group.devices[0]!.allocate('f32', 1)
    const input = data.slices.map(({ rows, view }) => view.reshape(1, rows))
    return recorded(group, (r) => recordReduction(r, group, { kernels, input, output }))
  }
}

/** A product of f32, m × k by k × n, with matrices on the devices. */
export function residentProduct(m: number, n: number, k: number): RecordProgram {
  return async (group) => {
    const blocking = chooseBlocking(group.devices[0]!, { m, n, k }, Math.ceil(m / group.devices.length))
    const kernels = await compileMatmul(group, 'f32', blocking)
    const a = await allocateSharded(group, 'f32', m, k)
    const b = await allocateSharded(group, 'f32', k, n)
    const c = await allocateSharded(group, 'f32', m, n)
    const plan = recorded(group, (r) => recordShardedMatmul(r, () => kernels, a, b, c))
    return { ...plan, blocking }
  }
}

/** The same from host memory and back, in panels of 2,048 columns. */
export function streamedProduct(m: number, n: number, k: number): RecordProgram {
  return async (group) => {
    const { devices } = group
    const shape = { m, n, k }
    const blocking = chooseBlocking(devices[0]!, shape, Math.ceil(m / devices.length))
    const kernels = await compileMatmul(group, 'f32', blocking)
    const plan = planStream(shape, devices, { streamWidth: 2048, memoryLimitBytes: 100 * 2 ** 30 })
    const parts = (rows: number, columns: number) =>
      splitRows(rows, devices.length).map((part, i) =>
        part.rows > 0 ? group.allocateHost('f32', part.rows * columns, { device: devices[i]! }) : undefined,
      )
    const host =
      group.rankCount > 1
        ? { a: parts(m, k), b: parts(k, n), c: parts(m, n) }
        : {
            a: group.allocateHost('f32', m * k),
            b: group.allocateHost('f32', k * n),
            c: group.allocateHost('f32', m * n),
          }
    const record = recorded(group, (r) =>
      recordStreamedMatmul(r, group, { devices, kernels: () => kernels, shape, host, plan }),
    )
    return { ...record, blocking }
  }
}

/** A product of f32 on a ring, with circulating slices of A. */
export function ringProduct(m: number, n: number, k: number, scheme: RingScheme): RecordProgram {
  return async (group) => {
    const blocking = ringBlocking(group.devices, { m, n, k })
    const kernels = await compileMatmul(group, 'f32', blocking)
    const ring = await allocateRing(group, 'f32', { m, n, k })
    return { ...recorded(group, (r) => recordRing(r, kernels, ring, { scheme })), blocking }
  }
}

/** rows × columns cells, residuals every 100 sweeps. Sweeps are fused if the algorithm fuses them. */
export function jacobiOf(rows: number, columns: number, decomposition: Decomposition): RecordProgram {
  return async (group) => {
    const grid = decompose(rows - 2, columns - 2, group.devices.length, decomposition)
    const fuse = decomposition === '1d' && grid.blocks.every((block) => block.rows >= fusedSweeps)
    const kernels = await compileJacobi(group, { transport: 'copy', source: false, fuse })
    const field = await allocateField(group, rows, columns, decomposition, {
      source: false,
      columnHalos: true,
      haloRows: fuse ? fusedSweeps : 1,
    })
    const options = { iterations: 1000, residualEvery: 100, schedule: 'overlapped' } as const
    const body = new JacobiIteration(field, kernels, options).body()
    return { plan: body.plan, sweeps: Number(/\d+/.exec(body.plan.label)![0]) }
  }
}

function recorded(group: DeviceGroup, record: (recorder: Recorder) => void): Recorded {
  return { plan: group.record(record).plan }
}

/** Opens a group, records a program on it, and closes it: the plan is data. */
export async function recordOn(open: () => Promise<DeviceGroup>, program: RecordProgram): Promise<Recorded> {
  const group = await open()
  try {
    return await program(group)
  } finally {
    await group.destroy()
  }
}
