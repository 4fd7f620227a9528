import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DeviceBuffer } from '../group/device.ts'
import { type DeviceGroup, openGroup } from '../group/group.ts'
import type { Kernel } from '../kernels/kernel.ts'
import type { PlanDispatch } from '../plan/plan.ts'
import { referenceBackend } from '../testing/reference-backend.ts'
import type { DispatchOptions } from './recorder.ts'

const wgsl = `
enable f16;
struct Params {
  x_base: u32, x_stride: u32, x_rows: i32, x_columns: u32, x_length: u32,
  y_base: u32, y_stride: u32,
  weights: vec3f, shift: vec2i, half_weight: f16, table: array<vec4u, 2>,
}
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(2) var<uniform> params: Params;
@group(0) @binding(3) var<uniform> scalar: i32;
@compute @workgroup_size(1)
fn main() {
  y[params.y_base] = vec4f(x[params.x_base] * params.weights.x + f32(params.half_weight) + f32(scalar));
}`

const inOut = `
@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> b: array<u32>;
@compute @workgroup_size(1) fn main() { a[0] = b[0]; b[1] = 2; }`

let group: DeviceGroup
let kernel: Kernel
let pair: Kernel
let x: DeviceBuffer<'f32'>
let y: DeviceBuffer<'f32'>
let words: DeviceBuffer<'u32'>

beforeAll(async () => {
  group = await openGroup({ backends: [referenceBackend()], devices: 2 })
  kernel = await group.compile({ wgsl, label: 'k' })
  pair = await group.compile({ wgsl: inOut, label: 'pair' })
  x = await group.devices[1]!.allocate('f32', [40, 100], { label: 'x' })
  y = await group.devices[1]!.allocate('f32', [40, 100], { label: 'y' })
  words = await group.devices[0]!.allocate('u32', 1000, { label: 'words' })
})

afterAll(async () => {
  for (const resource of [kernel, pair, x, y, words]) resource.destroy()
  expect(await group.destroy()).toEqual({ leaks: [] })
})

const values = {
  weights: [1, 2, 3],
  shift: [-1, 2],
  half_weight: 0.5,
  table: [1, 2, 3, 4, 5, 6, 7, 8],
  scalar: -9,
}

function plan(options: Partial<DispatchOptions> & Pick<DispatchOptions, 'args'>, of = kernel) {
  const program = group.record((r) => r.dispatch(of, { workgroups: 1, ...options }))
  program.destroy()
  return program.plan
}

test('bindings start at multiples of 256 bytes and end with the view; uniforms tell the kernel its place', () => {
  const { commands, uniformBlock } = plan({
    args: { x: x.block(3, 5, 7, 11), y: y.block(2, 8, 6, 12), ...values },
  })
  const [command] = commands as [PlanDispatch]
  expect(command).toMatchObject({ kind: 'dispatch', device: 1, label: 'k', workgroups: [1, 1, 1] })
  // x: first byte (3 * 100 + 5) * 4 = 1220 = 1024 + 49 * 4; last row ends at (9 * 100 + 16) * 4.
  expect(command.bindings[0]).toMatchObject({
    name: 'x',
    access: 'read',
    reads: true,
    writes: false,
    byteOffset: 1024,
    byteLength: 3664 - 1024,
    view: { byteOffset: 1220, rowByteLength: 44, rows: 7, rowByteStride: 400 },
  })
  // y: first byte (2 * 100 + 8) * 4 = 832 = 768 + 4 * 16, in units of vec4f.
  expect(command.bindings[1]).toMatchObject({ name: 'y', reads: false, writes: true, byteOffset: 768 })
  const view = new DataView(uniformBlock.buffer)
  const u32 = (index: number) => view.getUint32(4 * index, true)
  expect([0, 1, 2, 3, 4, 5, 6].map(u32)).toEqual([49, 100, 7, 11, 77, 4, 25])
  expect([8, 9, 10].map((i) => view.getFloat32(4 * i, true))).toEqual([1, 2, 3])
  expect([12, 13].map((i) => view.getInt32(4 * i, true))).toEqual([-1, 2])
  expect(view.getUint16(56, true)).toBe(0x3800)
  expect([16, 17, 18, 19, 20, 21, 22, 23].map(u32)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  expect(command.bindings[2]).toMatchObject({ kind: 'uniform', byteOffset: 0, byteLength: 96 })
  expect(command.bindings[3]).toMatchObject({ kind: 'uniform', byteOffset: 256, byteLength: 4 })
  expect(view.getInt32(256, true)).toBe(-9)
  expect(uniformBlock.byteLength).toBe(512)
})

test('contiguous views of several rows are one region', () => {
  const [command] = plan({ args: { x: x.block(1, 0, 2, 100), y, ...values } }).commands as [PlanDispatch]
  expect(command.bindings[0]).toMatchObject({ view: { byteOffset: 400, rowByteLength: 800, rows: 1 } })
})

test('values given win over values filled in', () => {
  const { uniformBlock } = plan({ args: { x: x.slice(3, 5), y, x_base: 1000, x_length: 4, ...values } })
  expect([...new Uint32Array(uniformBlock.buffer, 0, 5)]).toEqual([1000, 5, 1, 5, 4])
})

test('members of a binding that this variant of a kernel does not declare are 0, and every other member needs a value', async () => {
  const members = 'b_base: u32, extra_base: u32, extra_stride: u32, extra_rows: u32, row_stride: u32'
  const variant = await group.compile({
    label: 'variant',
    wgsl: `struct Params { ${members} }
      @group(0) @binding(0) var<storage, read_write> b: array<u32>;
      @group(0) @binding(1) var<uniform> params: Params;
      @compute @workgroup_size(1) fn main() {
        b[params.b_base] = params.extra_base + params.extra_stride + params.extra_rows + params.row_stride;
      }`,
  })
  const { uniformBlock } = plan({ args: { b: words.slice(70, 1), row_stride: 5 } }, variant)
  expect([...new Uint32Array(uniformBlock.buffer, 0, 5)]).toEqual([6, 0, 0, 0, 5])
  const given = plan({ args: { b: words, row_stride: 5, extra_rows: 9 } }, variant).uniformBlock
  expect([...new Uint32Array(given.buffer, 0, 5)]).toEqual([0, 0, 0, 9, 5])
  expect(() => plan({ args: { b: words } }, variant)).toThrow('has no value for uniform member row_stride')
  variant.destroy()
})

test('commands without workgroups, without elements, or that write none are dropped', () => {
  const empty = x.slice(0, 0)
  expect(plan({ args: { x, y, ...values }, workgroups: [4, 0] }).commands).toEqual([])
  expect(plan({ args: { x: empty, y: empty, ...values } }).commands).toEqual([])
  expect(plan({ args: { x, y: empty, ...values } }).commands).toEqual([])
  expect(() => plan({ args: { x: empty, y, ...values } })).toThrow('The view of x in dispatch "k" is empty')
})

test('vec4 views begin, and step from row to row, by whole vectors', () => {
  expect(() => plan({ args: { x, y: y.slice(2, 8), ...values } })).toThrow('starts at byte 8')
  expect(() => plan({ args: { x, y: y.slice(0, 100).reshape(3, 4, 6), ...values } })).toThrow(
    'rows 24 bytes apart',
  )
  expect(() => plan({ args: { x, y: y.slice(0, 3), ...values } })).toThrow('needs at least 16')
})

test('without a uniform for its start, a view must begin at a multiple of 256 bytes', () => {
  expect(() => plan({ args: { a: words.slice(1, 8), b: words.slice(64, 8) } }, pair)).toThrow(
    'no uniform member a_base',
  )
  expect(plan({ args: { a: words.slice(128, 8), b: words.slice(64, 8) } }, pair).commands).toHaveLength(1)
})

test('a buffer may be bound read_write twice only if the bound ranges are disjoint', () => {
  expect(() => plan({ args: { a: words.slice(0, 65), b: words.slice(64, 8) } }, pair)).toThrow(
    '[0, 260) and [256, 288) overlap',
  )
  const both = { x, y: x.slice(2000, 100), ...values }
  expect(() => plan({ args: both })).toThrow(
    'x and y of dispatch "k" are both in buffer "x", one as read and the other as read_write',
  )
})

test('arguments of the wrong kind are refused', () => {
  const args = { x, y, ...values }
  const refusal = (changed: object) => () => plan({ args: { ...args, ...changed } as never })
  expect(refusal({ weights: 1 })).toThrow('the member has 3 components')
  expect(refusal({ weights: [1, 2] })).toThrow('has 2 numbers')
  expect(refusal({ scalar: 2 ** 31 })).toThrow('2147483648')
  expect(refusal({ scalar: true })).toThrow('is true')
  expect(refusal({ scalar: x })).toThrow('is a view')
  expect(refusal({ x: 5 })).toThrow('is not a view of a device buffer')
  expect(refusal({ x: words })).toThrow('buffer "words" holds u32')
  expect(refusal({ table: [1, 2, 3] })).toThrow('has 3 numbers')
})

test('what belongs elsewhere is refused', async () => {
  const other = await openGroup({ backends: [referenceBackend()], label: 'other' })
  const foreign = await other.devices[0]!.allocate('f32', 100, { label: 'foreign' })
  expect(() => plan({ args: { x: foreign, y, ...values } })).toThrow('belongs to group "other"')
  let escaped: Parameters<Parameters<DeviceGroup['record']>[0]>[0] | undefined
  const donor = group.record((r) => {
    escaped = r
  })
  donor.destroy()
  expect(() => escaped!.fill(x, 1)).toThrow('The recording has ended')
  const scratchOwner: DeviceBuffer[] = []
  group.record((r) => scratchOwner.push(r.scratch(1, 'f32', 100))).destroy()
  expect(() => plan({ args: { x: scratchOwner[0] as DeviceBuffer<'f32'>, y, ...values } })).toThrow(
    'of another program',
  )
  expect(() => plan({ args: { x, y, ...values }, device: 2 })).toThrow(
    'Device 2 is not in the group, which has 2 devices.',
  )
  foreign.destroy()
  await other.destroy()
})
