// Endless kernels on real GPUs: a time limit ends them, whatever their loops do, and their group and another
// one can still be used.
import {
  type DeviceBuffer,
  type DeviceGroup,
  OwnedResources,
  openGroup,
  type Program,
} from '@tandem-gpu/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cuda } from './cuda.ts'

const head = (size: string, more = '') => `${more}
struct Params { n: u32 }
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> halves: array<vec4u>;
var<workgroup> words: array<u32, 256>;
var<workgroup> tile: array<vec4u, 256>;
fn hash(x: u32) -> u32 { var s = x; while (s != 1u) { s = select(3u * s + 1u, s / 2u, s % 2u == 0u); } return s; }
@compute @workgroup_size(${size}) fn main(@builtin(local_invocation_index) i: u32, @builtin(global_invocation_id) id: vec3u) { let n = params.n; `
const matrix = `let a = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&halves, 0u, 2u);
      let b = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&halves, 0u, 2u);
      c = subgroupMatrixMultiplyAccumulate(a, b, c);`
/** Functions without loops, of which each makes twice as many calls as the one before it. */
const multiplied = [
  'fn level0(x: u32) { out[x] += 1u; }',
  ...Array.from({ length: 40 }, (_, k) => `fn level${k + 1}(x: u32) { level${k}(x); level${k}(x + 1u); }`),
].join('\n')

/** The size of the workgroup, the body, and the text before the declarations. */
const kinds: Readonly<Record<string, readonly [string, string, string?]>> = {
  loop: ['256', 'loop { out[id.x] += 1u; continuing { break if n == 0u; } }'],
  while: ['256', 'while (n != 0u) { out[id.x] += 1u; }'],
  tight: ['256', 'var x = id.x; while (n != 0u) { x = x * 1664525u + 1013904223u; } out[id.x] = x;'],
  wraps: ['256', 'for (var k = 0u; k < 4294967295u * n; k += 1073741824u) { out[id.x] += 1u; }'],
  long: ['256', 'for (var k = 0u; k < 4294967295u * n; k++) { out[id.x] += k; }'],
  nested: [
    '256',
    'for (var k = 0u; k < 4000000000u * n; k++) { for (var j = 0u; j < id.x * 64u; j++) { out[id.x] += j; } }',
  ],
  function: ['256', 'if (n != 0u) { out[id.x] = hash(0u); }'],
  'calls that multiply': ['256', 'if (n != 0u) { level40(id.x); }', multiplied],
  barriers: [
    '256',
    'while (n != 0u) { words[i] += 1u; workgroupBarrier(); out[id.x] = words[255u - i]; workgroupBarrier(); }',
  ],
  'divergent, barrier behind': [
    '256',
    'for (var k = 0u; k < n * 1000000u * (i % 7u); k++) { out[id.x] += hash(3u + (k & 1u)); } workgroupBarrier(); while (n != 0u) { words[i] += 1u; workgroupBarrier(); }',
  ],
  'asynchronous copies': [
    '256',
    'while (n != 0u) { tile[i] = halves[i]; workgroupBarrier(); out[id.x] += tile[i ^ 1u].x; workgroupBarrier(); }',
  ],
  shuffles: [
    '256',
    'var x = i; while (n != 0u) { x += subgroupShuffle(x, (x + 1u) & 31u); } out[id.x] = x;',
    'enable subgroups;',
  ],
  ballots: [
    '256',
    'var x = i; while (n != 0u) { x += countOneBits(subgroupBallot((x & 1u) == 0u).x); } out[id.x] = x;',
    'enable subgroups;',
  ],
  'shuffles and barriers': [
    '256',
    'var x = i; while (n != 0u) { x += subgroupAdd(x); workgroupBarrier(); words[i] = x; workgroupBarrier(); x ^= words[255u - i]; } out[id.x] = x;',
    'enable subgroups;',
  ],
  'partial subgroup': [
    '40',
    'var x = i; while (n != 0u) { x += subgroupAdd(x); workgroupBarrier(); words[i] = x; } out[id.x] = x;',
    'enable subgroups;',
  ],
  atomics: [
    '256',
    'while (n != 0u) { atomicAdd(&counter[0], 1u); }',
    '@group(0) @binding(3) var<storage, read_write> counter: array<atomic<u32>>;',
  ],
  matrices: [
    '256',
    `var c: subgroup_matrix_result<f32, 16, 16>; while (n != 0u) { ${matrix} } subgroupMatrixStore<row_major>(&floats, 0u, c, 4u);`,
    'enable f16; enable chromium_experimental_subgroup_matrix; @group(0) @binding(3) var<storage, read_write> floats: array<vec4f>;',
  ],
  'matrices and barriers': [
    '256',
    `var c: subgroup_matrix_result<f32, 16, 16>; while (n != 0u) { tile[i] = halves[i]; workgroupBarrier(); ${matrix.replaceAll('&halves', '&tile')} workgroupBarrier(); } subgroupMatrixStore<row_major>(&floats, 0u, c, 4u);`,
    'enable f16; enable chromium_experimental_subgroup_matrix; @group(0) @binding(3) var<storage, read_write> floats: array<vec4f>;',
  ],
}

const limitSeconds = 0.3
const workgroups = 5280
const { absence } = await cuda().adapters()
const reason = absence === undefined ? '' : ` (skipped: ${absence.reason})`

describe.skipIf(absence !== undefined)(`a time limit on a real GPU${reason}`, () => {
  let groups: readonly DeviceGroup[] = []
  beforeAll(async () => {
    const open = () => openGroup({ backends: [cuda({ kernelCache: false })], devices: 1 })
    groups = [await open(), await open()]
  })
  afterAll(async () => {
    for (const group of groups) await group.destroy()
  })

  it.each(Object.entries(kinds))('ends an endless kernel: %s', async (_, [size, body, more = '']) => {
    const [group, other] = groups as [DeviceGroup, DeviceGroup]
    const [device] = group.devices
    const owned = new OwnedResources()
    const kernel = owned.keep(await group.compile({ wgsl: `${head(size, more)} ${body} out[id.x] = 5u; }` }))
    const buffers = {
      out: owned.keep(await device!.allocate('u32', 256 * workgroups)),
      halves: owned.keep(await device!.allocate('u32', 4096)),
      counter: owned.keep(await device!.allocate('u32', 64)),
      floats: owned.keep(await device!.allocate('f32', 4096)),
    }
    const used = Object.entries(buffers).filter(
      ([binding]) => binding === 'out' || `${body}${more}`.includes(binding),
    )
    const program = owned.keep(
      group.record((r) => {
        const n = r.parameter('n', 'u32', 1)
        r.dispatch(kernel, { workgroups, args: { ...Object.fromEntries(used), n } })
      }),
    )
    const begun = performance.now()
    const running = group.queue.run(program, 2, { timeoutSeconds: limitSeconds })
    await expect(running).rejects.toMatchObject({ code: 'timeout' })
    expect((performance.now() - begun) / 1000 - limitSeconds).toBeLessThan(1)
    expect([await computes(group), await computes(other)]).toEqual([true, true])
    expect(await runsAgain(group, program, buffers.out)).toBe(true)
    owned.destroy()
  })
})

/** The same kernel, which now ends. */
async function runsAgain(group: DeviceGroup, program: Program, out: DeviceBuffer<'u32'>): Promise<boolean> {
  await group.queue.run(program, 5, { parameters: { n: 0 }, timeoutSeconds: 20 })
  return (await group.queue.read(out.slice(0, 32))).every((value) => value === 5)
}

async function computes(group: DeviceGroup): Promise<boolean> {
  const owned = new OwnedResources()
  const wgsl = `@group(0) @binding(0) var<storage, read_write> x: array<u32>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { x[id.x] = id.x * id.x; }`
  const kernel = owned.keep(await group.compile({ wgsl }))
  const x = owned.keep(await group.devices[0]!.allocate('u32', 4096))
  await group.queue.run(
    owned.keep(group.record((r) => r.dispatch(kernel, { workgroups: 64, args: { x } }))),
    3,
  )
  const values = await group.queue.read(x)
  owned.destroy()
  return values.every((value, i) => value === i * i)
}
