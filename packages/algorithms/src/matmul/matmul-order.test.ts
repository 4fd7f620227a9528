import { isDeepStrictEqual } from 'node:util'
import { type DeviceGroup, openGroup, printPlan } from '@tandem-gpu/core'
import {
  expectEveryEdgeToMatter,
  recordAccumulate,
  recordIncrement,
  referenceBackend,
} from '@tandem-gpu/core/testing'
import { describe, expect, it } from 'vitest'
import { generatedElements } from '../element-source.ts'
import { allocateSharded, gatherSharded, type ShardedMatrix, writeSharded } from '../sharded-matrix.ts'
import { referenceMatmul } from '../testing/reference-results.ts'
import { compileTranspose } from '../transpose/transpose-kernels.ts'
import { chooseBlocking, compileMatmul, type MatmulKernels } from './single/matmul-kernels.ts'
import { recordShardedMatmul } from './single/record-matmul.ts'
import { planStream } from './stream/plan-stream.ts'
import { recordStreamedMatmul } from './stream/record-stream.ts'

const shape = { m: 7, n: 8, k: 6 }
const { m, n, k } = shape

function elements(length: number, seed: number): Uint32Array<ArrayBuffer> {
  const data = new Uint32Array(length)
  generatedElements('u32', seed)(0, data)
  return data
}

/** The sum of C over the repetitions, if the elements of A and B increase by 1 before each. */
function accumulated(
  a: Uint32Array<ArrayBuffer>,
  b: Uint32Array<ArrayBuffer>,
  repetitions: number,
  inner = shape,
): Uint32Array {
  const total = new Uint32Array(m * n)
  for (let r = 1; r <= repetitions; r++) {
    const grown = [a, b].map((data) => data.map((value) => value + r)) as [typeof a, typeof b]
    const product = referenceMatmul('u32', inner, ...grown)
    for (let index = 0; index < total.length; index++) total[index] = 3 * total[index]! + product[index]!
  }
  return total
}

const columnsWgsl = `
struct Params { a_base: u32, a_stride: u32, b_base: u32, b_stride: u32, c_base: u32, c_stride: u32, m: u32, n: u32, k: u32, k_chunk: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<u32>;
@group(0) @binding(2) var<storage, read> b: array<u32>;
@group(0) @binding(3) var<storage, read_write> c: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) workgroup: vec3<u32>) {
  let first = workgroup.z * params.k_chunk;
  for (var at = thread; at < params.m * params.n; at += 64u) {
    let row = at / params.n;
    let column = at % params.n;
    var sum = 0u;
    for (var k = first; k < min(first + params.k_chunk, params.k); k++) {
      sum += a[params.a_base + k * params.a_stride + row] * b[params.b_base + k * params.b_stride + column];
    }
    c[params.c_base + (workgroup.z * params.m + row) * params.c_stride + column] = sum;
  }
}`

/**
 * For `transposed`, a kernel that reads A in the same layout but takes a hundredth of the time on the
 * reference executor.
 */
async function compile(
  group: DeviceGroup,
  body: 'registers' | 'transposed',
  parts = 1,
): Promise<MatmulKernels> {
  const kernels = await compileMatmul(group, 'u32', { ...chooseBlocking(group.devices[0]!, shape), parts })
  if (body === 'registers') return kernels
  return {
    ...kernels,
    blocking: { body, tileRows: 128, tileColumns: 128, parts },
    vector: await group.compile({ label: 'columns', wgsl: columnsWgsl }),
    transpose: await compileTranspose(group, { type: 'u32', scatter: false }),
  }
}

const views = ({ slices }: ShardedMatrix<'u32'>) => slices.map((slice) => slice.view)

describe('the order of a product', () => {
  it.each(['registers', 'transposed'] as const)('needs every edge while B is gathered: %s', async (body) => {
    const backend = referenceBackend()
    const group = await openGroup({ backends: [backend], devices: 2 })
    const kernels = await compile(group, body)
    const a = await allocateSharded(group, 'u32', m, k)
    const b = await allocateSharded(group, 'u32', k, n)
    const c = await allocateSharded(group, 'u32', m, n)
    const total = await allocateSharded(group, 'u32', m, n)
    const increment = await recordIncrement(group)
    const accumulate = await recordAccumulate(group)
    const program = group.record((r) => {
      increment(r, views(a))
      increment(r, views(b))
      recordShardedMatmul(r, () => kernels, a, b, c, { panelColumns: 4 })
      accumulate(r, views(c), views(total))
    })
    const [x, y] = [elements(m * k, 1), elements(k * n, 2)]
    const expected = accumulated(x, y, 3)
    await expectEveryEdgeToMatter(backend, program, async () => {
      await writeSharded(group, a, x)
      await writeSharded(group, b, y)
      await writeSharded(group, total, new Uint32Array(m * n))
      await group.queue.run(program, 3)
      return isDeepStrictEqual(await gatherSharded(group, total), expected)
    })
    await group.destroy()
  })

  it('needs every edge while products that stream share the memory of the parts of K', async () => {
    const backend = referenceBackend()
    const group = await openGroup({ backends: [backend], devices: 1 })
    const long = { ...shape, k: 20 }
    const kernels = await compile(group, 'transposed', 3)
    const { body, parts } = kernels.blocking
    expect({ body, parts }).toEqual({ body: 'transposed', parts: 3 })
    const plan = planStream(long, group.devices, { streamWidth: 4, memoryLimitBytes: 10_000, parts })
    expect(plan).toMatchObject({ panels: 2, panelBuffers: 2 })
    const [x, y] = [elements(m * long.k, 1), elements(long.k * n, 2)]
    const [a, b, c] = [m * long.k, long.k * n, m * n].map((length) => group.allocateHost('u32', length))
    const device = group.devices[0]!
    const [own, other, made, total] = await Promise.all(
      [
        [m, long.k],
        [long.k, n],
        [m, n],
        [m, n],
      ].map(([rows, columns]) => device.allocate('u32', [rows!, columns!])),
    )
    const increment = await recordIncrement(group)
    const accumulate = await recordAccumulate(group)
    const program = group.record((r) => {
      increment(r, [own!, other!])
      r.download(own!, a!.reshape(m, long.k))
      r.download(other!, b!.reshape(long.k, n))
      const host = { a: a!, b: b!, c: c! }
      recordStreamedMatmul(r, group, {
        devices: group.devices,
        kernels: () => kernels,
        shape: long,
        host,
        plan,
      })
      r.upload(c!.reshape(m, n), made!)
      accumulate(r, [made!], [total!])
    })
    const expected = accumulated(x, y, 3, long)
    await expectEveryEdgeToMatter(backend, program, async () => {
      await group.queue.write(own!, x)
      await group.queue.write(other!, y)
      await group.queue.write(total!, new Uint32Array(m * n))
      for (const { array } of [a!, b!, c!]) array.fill(0)
      await group.queue.run(program, 3)
      return isDeepStrictEqual(await group.queue.read(total!), expected)
    })
    await group.destroy()
  })

  it.each([
    { body: 'registers', peerAccess: true, streamWidth: 4, memoryLimitBytes: 10_000 },
    { body: 'registers', peerAccess: false, streamWidth: 4, memoryLimitBytes: 460 },
    { body: 'transposed', peerAccess: true, streamWidth: 4, memoryLimitBytes: 10_000 },
    { body: 'transposed', peerAccess: false, streamWidth: 4, memoryLimitBytes: 460 },
  ] as const)(
    'needs every edge while B streams: $body, peer access $peerAccess, $memoryLimitBytes bytes',
    async ({ body, peerAccess, ...limits }) => {
      const backend = referenceBackend({ peerAccess })
      const group = await openGroup({ backends: [backend], devices: 2 })
      const kernels = await compile(group, body)
      const plan = planStream(shape, group.devices, limits)
      const [x, y] = [elements(m * k, 1), elements(k * n, 2)]
      const host = {
        a: group.allocateHost('u32', m * k),
        b: group.allocateHost('u32', k * n),
        c: group.allocateHost('u32', m * n),
      }
      // Each repetition changes A and B on the devices and adds C to a total there.
      const a = await allocateSharded(group, 'u32', m, k)
      const b = await allocateSharded(group, 'u32', k, n)
      const c = await allocateSharded(group, 'u32', m, n)
      const total = await allocateSharded(group, 'u32', m, n)
      const increment = await recordIncrement(group)
      const accumulate = await recordAccumulate(group)
      const program = group.record((r) => {
        increment(r, views(a))
        for (const { row, rows, view } of a.slices)
          r.download(view, host.a.reshape(m, k).block(row, 0, rows, k))
        increment(r, views(b))
        for (const { row, rows, view } of b.slices)
          r.download(view, host.b.reshape(k, n).block(row, 0, rows, n))
        recordStreamedMatmul(r, group, { devices: group.devices, kernels: () => kernels, shape, host, plan })
        for (const { row, rows, view } of c.slices)
          r.upload(host.c.reshape(m, n).block(row, 0, rows, n), view)
        accumulate(r, views(c), views(total))
      })
      expect(printPlan(program.plan)).toMatchSnapshot()
      const expected = accumulated(x, y, 3)
      await expectEveryEdgeToMatter(backend, program, async () => {
        await writeSharded(group, a, x)
        await writeSharded(group, total, new Uint32Array(m * n))
        await writeSharded(group, b, y)
        host.a.array.fill(0)
        host.b.array.fill(0)
        host.c.array.fill(0)
        await group.queue.run(program, 3)
        return isDeepStrictEqual(await gatherSharded(group, total), expected)
      })
      await group.destroy()
    },
  )
})
