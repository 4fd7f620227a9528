import { expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { compileReference } from '../reference/index.ts'
import { openDawnOracle } from '../testing/dawn-oracle.ts'
import { emitCuda } from './emit-cuda.ts'
import { buildCpuProgram } from './testing/cpu-program.ts'
import { hasProgram } from './testing/kernel-cases.ts'

// Not in the test kernels, because SwiftShader lacks the feature.
const source = `
enable atomic_vec2u_min_max;
struct Held { tag: u32, pairs: array<atomic<vec2u>, 3> }
@group(0) @binding(0) var<storage, read_write> wide: Held;
@compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3u) {
  let spread = id.x * 2654435769;
  atomicStoreMax(&wide.pairs[0], vec2u(spread, id.x / 8));
  atomicStoreMin(&wide.pairs[1], vec2u(id.x, spread));
  atomicStoreMax(&wide.pairs[2], vec2(spread % 100, 7));
}`
const before = new Uint32Array([9, 0, 5, 0, 5, 4294967295, 500, 6])

function after(): Uint32Array {
  const pairs = [0, 1, 2].map((i) => (BigInt(before[3 + 2 * i]!) << 32n) | BigInt(before[2 + 2 * i]!))
  const pair = (low: number, high: number) => (BigInt(high) << 32n) | BigInt(low)
  const larger = (a: bigint, b: bigint) => (a > b ? a : b)
  for (let x = 0; x < 64; x++) {
    const spread = Math.imul(x, 2654435769) >>> 0
    pairs[0] = larger(pairs[0]!, pair(spread, x >> 3))
    pairs[1] = -larger(-pairs[1]!, -pair(x, spread))
    pairs[2] = larger(pairs[2]!, pair(spread % 100, 7))
  }
  const words = pairs.flatMap((p) => [Number(p & 0xffffffffn), Number(p >> 32n)])
  return new Uint32Array([before[0]!, before[1]!, ...words])
}

const ir = lower(parseWgsl(source))

it('atomics of vec2u get the same verdicts from Dawn (needs npm webgpu)', async ({ skip }) => {
  const oracle = await openDawnOracle()
  if (oracle === undefined) return skip()
  expect(await oracle(source)).toEqual([])
  for (const wrong of ['atomicMax(&wide.pairs[0], vec2u())', '_ = atomicLoad(&wide.pairs[0])']) {
    const bad = source.replace(/let spread[^}]*/, `${wrong}; `)
    expect(await oracle(bad)).not.toEqual([])
    expect(() => lower(parseWgsl(bad))).toThrow(/takes a pointer to an atomic<i32>/)
  }
})

it('atomics of vec2u keep the pair that is least or largest by its second component, then by its first', () => {
  const words = before.slice()
  const bindings = new Map([['0.0', new Uint8Array(words.buffer)]])
  compileReference(ir).run({ workgroups: [4, 1, 1], bindings })
  expect(words).toEqual(after())
})

it.skipIf(!hasProgram('g++'))('atomics of vec2u do the same in C++ (needs g++)', async () => {
  const program = await buildCpuProgram([emitCuda(ir, { bounds: 'clamp', lineDirectives: false })])
  const bytes = new Uint8Array(before.slice().buffer)
  const [result] = await program.run([
    { kernel: 0, grid: [4, 1, 1], parameters: [bytes, BigInt(bytes.length)] },
  ])
  expect('buffers' in result! && new Uint32Array(result.buffers[0]!.slice().buffer)).toEqual(after())
})
