import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeviceGroup, openGroup } from '../group/group.ts'
import type { UntypedArguments } from '../recording/recorder.ts'
import { referenceBackend } from '../testing/reference-backend.ts'
import type { Kernel } from './kernel.ts'
import type { ParameterType, ParameterValue } from './parameter.ts'

const wgsl = `
struct Light { direction: vec3f, power: f32, color: vec3f }
struct Scene { sun: Light, lights: array<Light, 2>, count: u32 }
struct Params { scene: Scene, view: mat3x3f, half: mat2x4f, path: array<vec3i, 2>, table: array<vec4u, 2>, gain: f32 }
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@group(0) @binding(1) var<uniform> params: Params;
@compute @workgroup_size(1) fn main() {
  out[0] = params.scene.sun.power + params.scene.lights[1].color.z + f32(params.scene.count);
  let turned = params.view * vec3f(1, 10, 100);
  out[1] = turned.x; out[2] = turned.y; out[3] = turned.z;
  out[4] = (params.half * vec2f(1, 10)).w;
  out[5] = f32(params.path[1].y);
  out[6] = f32(params.table[1].w);
  out[7] = params.gain;
}`

const light = (power: number) => ({ direction: [0, 0, 1], power, color: new Float32Array([1, 2, 3]) })
const good = {
  scene: { sun: light(5), lights: [light(6), light(7)], count: 2 },
  view: [1, 2, 3, 4, 5, 6, 7, 8, 9],
  half: [
    [1, 2, 3, 4],
    [5, 6, 7, 8],
  ],
  path: [
    [1, 2, 3],
    [4, -5, 6],
  ],
  table: [1, 2, 3, 4, 5, 6, 7, 8],
}

let group: DeviceGroup
let kernel: Kernel

beforeAll(async () => {
  group = await openGroup({ backends: [referenceBackend()] })
  kernel = await group.compile({ wgsl })
})
afterAll(async () => {
  kernel.destroy()
  expect(await group.destroy()).toEqual({ leaks: [] })
})

describe('a uniform value', () => {
  it('is laid out as its WGSL type says, with nested structures, matrices, arrays and parameters', async () => {
    const out = await group.devices[0]!.allocate('f32', 8)
    const program = group.record((r) => {
      const gain = r.parameter('gain', 'f32', 3)
      r.dispatch(kernel, { workgroups: 1, args: { out, ...good, gain } })
    })
    await group.queue.run(program, 1, { parameters: { gain: 4 } })
    expect([...(await group.queue.read(out))]).toEqual([5 + 3 + 2, 741, 852, 963, 84, -5, 8, 4])
    program.destroy()
    out.destroy()
  })

  it('may be a parameter that is a vector, even inside structures and arrays, which a run changes', async () => {
    const out = await group.devices[0]!.allocate('f32', 8)
    const program = group.record((r) => {
      const color = r.parameter('color', 'vec3f', [1, 2, 4])
      const end = r.parameter('end', 'vec3i', Int32Array.of(4, -6, 6))
      const scene = { ...good.scene, lights: [light(6), { ...light(7), color }] }
      const args = { out, ...good, scene, path: [[1, 2, 3], end], gain: 1 }
      r.dispatch(kernel, { workgroups: 1, args })
    })
    const seen = async () => [...(await group.queue.read(out))].filter((_, i) => i === 0 || i === 5)
    await group.queue.run(program)
    expect(await seen()).toEqual([5 + 4 + 2, -6])
    await group.queue.run(program, 1, { parameters: { color: new Float32Array([0, 0, 9]), end: [7, 8, 9] } })
    expect(await seen()).toEqual([5 + 9 + 2, 8])
    for (const [parameters, message] of [
      [{ color: [1, 2] }, 'Parameter "color" of program'],
      [{ color: 3 }, '3; vec3f needs 3 numbers.'],
      [{ end: [1, 2, 0.5] }, 'is 0.5; i32 holds whole numbers'],
      [{ color: [0, 3.4028235677973366e38, 0] }, 'is 3.4028235677973366e+38; f32 holds finite numbers'],
    ] as const)
      await expect(async () => group.queue.run(program, 1, { parameters })).rejects.toThrow(message)
    program.destroy()
    out.destroy()
  })

  it('cannot be a parameter of another type', async () => {
    const out = await group.devices[0]!.allocate('f32', 8)
    const record = (type: ParameterType, initial: ParameterValue) => () =>
      group.record((r) => {
        const args = { out, ...good, gain: r.parameter('p', type, initial) }
        r.dispatch(kernel, { workgroups: 1, args })
      })
    expect(record('vec2f', [1, 2])).toThrow('is parameter "p" of type vec2f; the member is f32.')
    expect(record('vec2f', [1, 2, 3])).toThrow('an array of 3; vec2f needs 2 numbers.')
    expect(record('vec5f' as 'vec4f', [1])).toThrow("or a vector of them, such as 'vec2f'.")
    out.destroy()
  })

  it('may be a structure with a member named buffer', async () => {
    const named = await group.compile({
      wgsl: `struct Params { buffer: u32, offset: u32 }
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        struct Block { params: Params }
        @group(0) @binding(1) var<uniform> block: Block;
        @compute @workgroup_size(1) fn main() { out[0] = block.params.buffer * 10 + block.params.offset; }`,
    })
    const out = await group.devices[0]!.allocate('u32', 1)
    const program = group.record((r) =>
      r.dispatch(named, { workgroups: 1, args: { out, params: { buffer: 4, offset: 2 } } }),
    )
    await group.queue.run(program)
    expect([...(await group.queue.read(out))]).toEqual([42])
    expect(() =>
      group.record((r) =>
        r.dispatch(named, { workgroups: 1, args: { out, params: out.slice(0, 1) } as never }),
      ),
    ).toThrow('is a view; Params needs an object with its members.')
    program.destroy()
    out.destroy()
    named.destroy()
  })

  it.each([
    [
      'a missing member',
      { scene: { sun: light(1), count: 1 } },
      'Argument scene of dispatch "kernel" has no member lights, which Scene needs.',
    ],
    [
      'a member that is not there',
      { scene: { ...good.scene, moon: 1 } },
      'has a member "moon"; the members of Scene are sun, lights, count.',
    ],
    [
      'a number for a structure',
      { scene: 3 },
      'scene of dispatch "kernel" is 3; Scene needs an object with its members.',
    ],
    [
      'a deep wrong kind',
      { scene: { ...good.scene, sun: { ...light(1), power: [1] } } },
      'Member power of member sun of argument scene of dispatch "kernel" is an array of 1; it must be a number of type f32',
    ],
    [
      'a matrix that is too short',
      { view: [1, 2, 3] },
      'Argument view of dispatch "kernel" has 3 numbers; mat3x3f needs 9.',
    ],
    [
      'a column that is too short',
      { half: [[1, 2, 3, 4], [5]] },
      'Column 1 of argument half of dispatch "kernel" has 1 number;',
    ],
    ['an array of a wrong length', { path: [[1, 2, 3]] }, 'has 1 element; array<vec3i, 2> needs 2.'],
    [
      'a number out of range',
      {
        path: [
          [1, 2, 3],
          [4, 2 ** 31, 6],
        ],
      },
      'Element 1 of argument path of dispatch "kernel" is 2147483648',
    ],
  ])('%s is refused, naming the part', async (_, changed, message) => {
    const out = await group.devices[0]!.allocate('f32', 8)
    const args = { out, ...good, gain: 1, ...changed } as unknown as UntypedArguments
    const record = () => group.record((r) => r.dispatch(kernel, { workgroups: 1, args }))
    expect(record).toThrow(
      expect.objectContaining({ code: 'validation', message: expect.stringContaining(message) }),
    )
    out.destroy()
  })

  it.each([
    ['two blocks with one member name', 'n', 'y', 'The uniform b and the uniform a both have an argument n'],
    [
      'a member with the name of a buffer',
      'm',
      'm',
      'The uniform b and a storage buffer both have an argument m',
    ],
  ])('is given by name alone, so %s are an error', async (_, member, buffer, message) => {
    const two = `struct A { n: u32 } struct B { ${member}: u32 }
      @group(0) @binding(0) var<uniform> a: A; @group(0) @binding(1) var<uniform> b: B;
      @group(0) @binding(2) var<storage, read_write> ${buffer}: array<u32>;
      @compute @workgroup_size(1) fn main() { ${buffer}[0] = a.n + b.${member}; }`
    await expect(group.compile({ wgsl: two })).rejects.toMatchObject({
      code: 'validation',
      message: expect.stringContaining(message),
    })
  })
})
