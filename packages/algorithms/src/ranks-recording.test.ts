import { type DeviceGroup, openGroup, type Recorder } from '@tandem-gpu/core'
import { imaginedRanks } from '@tandem-gpu/core/testing'
import { expect, it } from 'vitest'
import { allocateField } from './jacobi/jacobi-field.ts'
import { JacobiIteration } from './jacobi/jacobi-iteration.ts'
import { compileJacobi } from './jacobi/jacobi-kernels.ts'
import { compileMatmul } from './matmul/single/matmul-kernels.ts'
import { recordShardedMatmul } from './matmul/single/record-matmul.ts'
import { planStream } from './matmul/stream/plan-stream.ts'
import { recordStreamedMatmul } from './matmul/stream/record-stream.ts'
import { recordReduction } from './reduction/record-reduction.ts'
import { compileReduction, leafLength } from './reduction/reduction-kernels.ts'
import { ringBlocking } from './ring/ring-matmul.ts'
import { recordScan } from './scan/record-scan.ts'
import { compileScan, scanTileLength } from './scan/scan-kernels.ts'
import { allocateSharded } from './sharded-matrix.ts'
import { recordTranspose } from './transpose/record-transpose.ts'
import { compileTranspose } from './transpose/transpose-kernels.ts'

/**
 * The number of calls that a rank makes to its recorder: work in which it takes no part must not cost it a
 * call.
 */
async function recorded(
  rank: number,
  count: number,
  prepare: (group: DeviceGroup) => Promise<(recorder: Recorder) => void>,
) {
  const group = await openGroup({ backends: [imaginedRanks(rank, count)] })
  const record = await prepare(group)
  let calls = 0
  const program = group.record((recorder) => {
    record(
      new Proxy(recorder, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name, target)
          if (typeof value !== 'function') return value
          return (...args: unknown[]) => {
            if (name !== 'touches') calls++
            return value.apply(target, args)
          }
        },
      }),
    )
  })
  const commands = program.plan.commands.length
  program.destroy()
  await group.destroy()
  return { calls, commands }
}

it('a rank of 256 records of a reduction what its own slice takes', async () => {
  const prepare = async (group: DeviceGroup) => {
    const kernels = await compileReduction(group, { kernel: 'best', operation: 'sum', type: 'f32' })
    const input = await allocateSharded(group, 'f32', 256 * leafLength, 1, {
      zero: false,
      alignment: leafLength,
    })
    const output = await group.devices[0]!.allocate('f32', 1)
    const views = input.slices.map(({ rows, view }) => view.reshape(1, rows))
    return (recorder: Recorder) => recordReduction(recorder, group, { kernels, input: views, output })
  }
  const member = await recorded(5, 256, prepare)
  expect(member.calls).toBeLessThan(6)
  expect(member.commands).toBe(2)
  const root = await recorded(0, 256, prepare)
  expect(root.commands).toBeGreaterThan(255)
})

it('a rank of 256 records of a scan what its own slice takes', async () => {
  const prepare = async (group: DeviceGroup) => {
    const kernels = await compileScan(group, { type: 'f32' })
    const shape = { zero: false, alignment: scanTileLength }
    const [input, output] = await Promise.all(
      [1, 2].map(() => allocateSharded(group, 'f32', 256 * scanTileLength, 1, shape)),
    )
    const views = (matrix = input!) => matrix.slices.map(({ rows, view }) => view.reshape(1, rows))
    return (recorder: Recorder) =>
      recordScan(recorder, group, { kernels, input: views(), output: views(output) })
  }
  const member = await recorded(5, 256, prepare)
  expect(member.calls).toBeLessThan(9)
  // It sums, sends, receives and scans.
  expect(member.commands).toBe(4)
  expect((await recorded(0, 256, prepare)).commands).toBeGreaterThan(511)
})

it('a rank of 256 records of a matrix product what it computes and what it sends of B', async () => {
  const count = 256
  const { calls, commands } = await recorded(5, count, async (group) => {
    const shape = { m: 4 * count, n: 16, k: 4 * count }
    const kernels = await compileMatmul(group, 'f32', ringBlocking(group.devices.slice(0, 1), shape))
    const a = await allocateSharded(group, 'f32', shape.m, shape.k, { zero: false })
    const b = await allocateSharded(group, 'f32', shape.k, shape.n, { zero: false })
    const c = await allocateSharded(group, 'f32', shape.m, shape.n, { zero: false })
    return (recorder) => recordShardedMatmul(recorder, () => kernels, a, b, c)
  })
  // One panel to and from each other rank, and the name of that panel's scratch memory.
  expect(calls).toBeLessThan(3 * count + 10)
  expect(commands).toBeGreaterThanOrEqual(2 * count)
})

it('a rank of 256 records of a streamed product what it computes, and what it sends and receives of B', async () => {
  const count = 256
  const { calls, commands } = await recorded(5, count, async (group) => {
    const { devices } = group
    const shape = { m: 4 * count, n: 16, k: 4 * count }
    const kernels = await compileMatmul(group, 'f32', ringBlocking(devices.slice(0, 1), shape))
    const rows = (length: number) => devices.map((device) => group.allocateHost('f32', length, { device }))
    const host = { a: rows(4 * shape.k), b: rows(4 * shape.n), c: rows(4 * shape.n) }
    const plan = planStream(shape, devices, { streamWidth: 16, memoryLimitBytes: 2 ** 30 })
    return (recorder) =>
      recordStreamedMatmul(recorder, group, { devices, kernels: () => kernels, shape, host, plan })
  })
  // One share to and from each other rank, and the names of the scratch memory of the others' panels.
  expect(calls).toBeLessThan(4 * count + 10)
  expect(commands).toBeGreaterThanOrEqual(2 * (count - 1) + 3)
})

it('a rank of 256 sends and receives a few messages for the residuals of all blocks', async () => {
  const count = 256
  const group = await openGroup({ backends: [imaginedRanks(5, count)] })
  const kernels = await compileJacobi(group, { transport: 'copy', source: false, fuse: false })
  const field = await allocateField(group, 4 * count, 64, '1d', {
    source: false,
    columnHalos: true,
    haloRows: 1,
    devices: count,
  })
  const options = { iterations: 2, residualEvery: 2, schedule: 'overlapped' } as const
  const iteration = new JacobiIteration(field, kernels, options)
  const messages = iteration.body().plan.commands.filter(({ kind }) => kind === 'send' || kind === 'receive')
  // Edge rows to and from two neighbours after each of two sweeps; the residuals go up one tree and down
  // another.
  expect(messages.length).toBeLessThanOrEqual(8 + 2 * Math.log2(count))
  iteration.destroy()
  field.destroy()
  kernels.destroy()
  await group.destroy()
})

it('records a transpose as rank 0 of 1,024 in 1 s and 200 MB', async ({ annotate }) => {
  const count = 1024
  const group = await openGroup({ backends: [imaginedRanks(0, count)] })
  const input = await allocateSharded(group, 'f32', 16 * count, 16 * count, { zero: false })
  const output = await allocateSharded(group, 'f32', 16 * count, 16 * count)
  const kernel = await compileTranspose(group, { type: 'f32' })
  const record = () => {
    const heap = process.memoryUsage().heapUsed
    const { user } = process.cpuUsage()
    const program = group.record(
      (recorder) => void recordTranspose(recorder, group, { kernel, input, output }),
    )
    // CPU time instead of elapsed time, so that other processes do not count.
    const seconds = (process.cpuUsage().user - user) / 1e6
    const megabytes = (process.memoryUsage().heapUsed - heap) / 1e6
    expect(program.plan.commands).toHaveLength(3 * count - 2)
    return { seconds, megabytes }
  }
  let { seconds, megabytes } = record()
  expect(megabytes).toBeLessThan(200)
  // A busy machine slows down one attempt, but not all of several. The speed of the machine itself is known
  // only in the long form.
  const most = process.env.TANDEM_LONG === '1' ? 1 : 20
  for (let again = 0; again < 4 && seconds >= most; again++) seconds = Math.min(seconds, record().seconds)
  expect(seconds).toBeLessThan(most)
  await annotate(`${seconds.toFixed(2)} s, ${megabytes.toFixed(0)} MB`)
  await group.destroy()
})
