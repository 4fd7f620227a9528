import { compileAll, type DeviceGroup, openGroup } from '@tandem-gpu/core'
import { expectEveryEdgeToMatter, referenceBackend } from '@tandem-gpu/core/testing'
import { describe, expect, it } from 'vitest'
import { allocateSharded, gatherSharded, type ShardedMatrix, writeSharded } from '../sharded-matrix.ts'
import { compileFft } from './compile-fft.ts'
import { fftLimits, planFft } from './plan-fft.ts'
import { recordFft } from './record-fft.ts'
import { referenceTransform } from './reference-fft.ts'
import { relativeError } from './testing-transform.ts'

/**
 * Compiles two kernels: `data = 1.25 * data`, which changes every value of a spectrum, and `total = total / 2
 * + data`.
 */
function compileWork(group: DeviceGroup) {
  const declarations = `
struct Params { data_base: u32, data_length: u32, total_base: u32 }
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@group(0) @binding(1) var<storage, read_write> total: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;
@compute @workgroup_size(64)
fn work(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= params.data_length) { return; }
  let at = params.data_base + id.x;`
  return compileAll(group, {
    grow: { label: 'grow', wgsl: `${declarations} data[at] *= 1.25; }` },
    accumulate: {
      label: 'accumulate',
      wgsl: `${declarations} let to = params.total_base + id.x; total[to] = 0.5 * total[to] + data[at]; }`,
    },
  })
}

interface OrderCase {
  readonly shape: readonly [number, number, number?]
  readonly axes?: readonly number[]
  readonly devices: number
  readonly order: 'natural' | 'transposed'
  readonly parts?: number
}

describe('the order of a transform', () => {
  it.each<OrderCase>([
    { shape: [4, 4], devices: 2, order: 'natural' },
    { shape: [4, 4], devices: 2, order: 'transposed' },
    { shape: [3, 4, 2], devices: 3, order: 'natural' },
    { shape: [8, 8, 8], devices: 2, order: 'transposed' },
    { shape: [3, 10], axes: [1], devices: 3, order: 'transposed' },
    { shape: [4, 4], devices: 2, order: 'transposed', parts: 2 },
    { shape: [5, 4, 2], devices: 2, order: 'natural', parts: 2 },
    { shape: [4, 3, 2], devices: 2, order: 'transposed', parts: 3 },
  ])(
    'needs every edge: $shape on $devices devices, $order, parts: $parts',
    { timeout: 120_000 },
    async ({ devices, parts, ...options }) => {
      const { order } = options
      const shape = options.shape.filter((length) => length !== undefined)
      const backend = referenceBackend()
      const group = await openGroup({ backends: [backend], devices })
      const plan = planFft({ ...options, shape, limits: { ...fftLimits(group.devices), lines: true } })
      const fft = await compileFft(group, plan)
      const { kernels: work } = await compileWork(group)
      const [rows, columns] = [
        shape[0]!,
        2 * shape.slice(1).reduce((product: number, length) => product * length, 1),
      ]
      const input = await allocateSharded(group, 'f32', rows, columns)
      const output =
        order === 'natural'
          ? await allocateSharded(group, 'f32', rows, columns)
          : await allocateSharded(group, 'f32', shape[1]!, (rows * columns) / shape[1]!)
      const totals = await allocateSharded(group, 'f32', output.rows, output.columns)
      const data = Float32Array.from({ length: rows * columns }, (_, i) => Math.fround(Math.sin(i * i + 1)))
      const views = (matrix: ShardedMatrix<'f32'>) =>
        matrix.slices.map(({ view }) => view.reshape(1, view.length))
      const program = group.record((recorder) => {
        for (const data of views(input))
          recorder.dispatch(work.grow, { workgroups: Math.ceil(data.length / 64), args: { data } })
        recordFft(recorder, group, { fft, input, output, parts })
        for (const [index, data] of views(output).entries()) {
          const total = views(totals)[index]!
          recorder.dispatch(work.accumulate, {
            workgroups: Math.ceil(data.length / 64),
            args: { data, total },
          })
        }
      })
      const expected = await referenceTransform(
        plan,
        data.map((value) => value * (0.25 * 1.25 + 0.5 * 1.25 ** 2 + 1.25 ** 3)),
      )
      await expectEveryEdgeToMatter(backend, program, async () => {
        await writeSharded(group, input, data)
        await writeSharded(group, totals, new Float32Array(output.rows * output.columns))
        await group.queue.run(program, 3)
        return relativeError(await gatherSharded(group, totals), expected) < 1e-5
      })
      expect(program.plan.commands.length).toBeGreaterThan(4)
      await group.destroy()
    },
  )
})
