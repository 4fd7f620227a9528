import { describe, expect, it } from 'vitest'
import { portableLimits } from '../backend/adapter.ts'
import { openGroup } from '../group/group.ts'
import { referenceBackend } from '../testing/reference-backend.ts'
import {
  bindableByteLength,
  bindableRows,
  blocked,
  dispatchBlocks,
  foldWorkgroups,
  ranges,
} from './dispatch-blocks.ts'

const limited = (limits: object) => ({ limits: { ...portableLimits, ...limits } })

describe('foldWorkgroups', () => {
  it('keeps one dimension if it has room for the count', () => {
    expect(foldWorkgroups(65_535, limited({}))).toEqual([65_535, 1])
    expect(foldWorkgroups(0, limited({}))).toEqual([0, 1])
  })

  it('covers every count with fewer idle workgroups than it has rows, within the limit', () => {
    const device = limited({ maxWorkgroupsPerDimension: 7 })
    for (let count = 1; count <= 49; count++) {
      const [x, y] = foldWorkgroups(count, device)
      expect(Math.max(x, y)).toBeLessThanOrEqual(7)
      expect(x * y - count).toBeGreaterThanOrEqual(0)
      expect(x * y - count).toBeLessThan(y)
    }
  })
})

it('ranges cover the count once, in order', () => {
  expect([...ranges(7, 3)]).toEqual([
    { first: 0, count: 3 },
    { first: 3, count: 3 },
    { first: 6, count: 1 },
  ])
  expect([...ranges(0, 3)]).toEqual([])
})

it('a view of the bindable length fits a binding wherever it begins', () => {
  expect(bindableByteLength(limited({ maxStorageBindingByteLength: 4096 }))).toBe(3840)
  expect(bindableByteLength(limited({ maxStorageBindingByteLength: 2 ** 40 }))).toBe(2 ** 33 - 256)
})

it('the rows that fit into a binding depend on leading dimension and element type, and are at least one', async () => {
  const group = await openGroup({ backends: [referenceBackend()] })
  const device = limited({ maxStorageBindingByteLength: 4096 })
  const matrix = await group.devices[0]!.allocate('f32', [10, 100])
  const image = await group.devices[0]!.allocate('u8', [10, 100])
  expect(bindableRows(device, matrix)).toBe(9)
  expect(bindableRows(device, matrix.block(0, 0, 10, 50))).toBe(9)
  expect(bindableRows(device, image)).toBe(38)
  expect(bindableRows(limited({ maxStorageBindingByteLength: 300 }), matrix)).toBe(1)
  await group.destroy()
})

/** Writes each block's sum of 4 elements. */
const wgsl = `
struct Params { x_base: u32, x_length: u32, sums_base: u32, sums_length: u32, factor: u32 }
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;
@compute @workgroup_size(2)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) grid: vec3u, @builtin(local_invocation_index) lane: u32) {
  let block = (group.x + group.y * grid.x) * 2u + lane;
  if (block >= params.sums_length) { return; }
  var sum = 0u;
  for (var i = 4u * block; i < min(4u * block + 4u, params.x_length); i++) { sum += x[params.x_base + i]; }
  sums[params.sums_base + block] = params.factor * sum;
}`

describe('dispatchBlocks', () => {
  it.each([
    { limits: {}, dispatches: 1 },
    { limits: { maxStorageBindingByteLength: 1024 }, dispatches: 5 },
    { limits: { maxWorkgroupsPerDimension: 5 }, dispatches: 4 },
  ])('computes the same in $dispatches dispatches under limits $limits', async ({ limits, dispatches }) => {
    const group = await openGroup({ backends: [referenceBackend({ limits })] })
    const kernel = await group.compile({ wgsl })
    const length = 799
    const [device] = group.devices
    const x = await device!.allocate('u32', length + 3)
    const sums = await device!.allocate('u32', 200)
    const program = group.record((r) =>
      dispatchBlocks(r, kernel, {
        blocks: 200,
        blocksPerWorkgroup: 2,
        args: { x: blocked(x.slice(3, length), 4), sums: blocked(sums, 1), factor: 2 },
      }),
    )
    expect(program.plan.commands.length).toBe(dispatches)
    await group.queue.write(
      x,
      new Uint32Array(length + 3).map((_, i) => i),
    )
    await group.queue.run(program)
    const expected = Uint32Array.from({ length: 200 }, (_, b) => {
      let sum = 0
      for (let i = 4 * b; i < Math.min(length, 4 * b + 4); i++) sum += 2 * (i + 3)
      return sum
    })
    expect(await group.queue.read(sums)).toEqual(expected)
    for (const resource of [program, x, sums, kernel]) resource.destroy()
    expect(await group.destroy()).toEqual({ leaks: [] })
  })

  it('refuses blocks that do not fit into a binding, and records nothing if there are no blocks', async () => {
    const backend = referenceBackend({ limits: { maxStorageBindingByteLength: 1024 } })
    const group = await openGroup({ backends: [backend] })
    const kernel = await group.compile({ wgsl })
    const x = await group.devices[0]!.allocate('u32', 1000)
    const record = (blocks: number, blockLength: number) =>
      group.record((r) =>
        dispatchBlocks(r, kernel, {
          blocks,
          args: { x: blocked(x, blockLength), sums: blocked(x, 1), factor: 1 },
        }),
      )
    expect(record(0, 4).plan.commands).toEqual([])
    expect(() => record(4, 250)).toThrow(
      expect.objectContaining({
        code: 'too-large',
        message: expect.stringContaining('A block of 1000 bytes of x of "kernel" exceeds the 768 bytes'),
      }),
    )
    await group.destroy()
  })
})
