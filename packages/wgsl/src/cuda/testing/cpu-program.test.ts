import { existsSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { lower, parseWgsl } from '../../frontend/lower.ts'
import { emitCuda } from '../emit-cuda.ts'
import { buildCpuProgram, cache } from './cpu-program.ts'
import { hasProgram } from './kernel-cases.ts'

/**
 * Calls a function with the same name and type in every kernel; it is too long and called too often for the
 * compiler to inline it.
 */
function kernel(number: number): string {
  return `
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
fn scramble(start: u32) -> u32 {
  var sum = start;
  ${'for (var i = 0u; i < out[0]; i++) { sum = (sum ^ (sum << 3u)) * 5u + out[sum % 5u] % 11u; }\n'.repeat(5)}
  return sum * 1000u + ${number}u;
}
@compute @workgroup_size(1) fn main() {
  out[1] = scramble(1u); out[2] = scramble(2u); out[3] = scramble(out[1]); out[4] = scramble(out[2] + 1u) % 1000u;
}`
}

it.skipIf(!hasProgram('g++'))(
  'separates functions of the same name in many kernels, in several files (needs g++)',
  async () => {
    const numbers = Array.from({ length: 130 }, (_, i) => i)
    const kernels = numbers.map((number) =>
      emitCuda(lower(parseWgsl(kernel(number))), { bounds: 'clamp', lineDirectives: false }),
    )
    const program = await buildCpuProgram(kernels)
    const results = await program.run(
      numbers.map((number) => ({ kernel: number, grid: [1, 1, 1], parameters: [new Uint8Array(20), 20n] })),
    )
    const ends = results.map((result) => 'buffers' in result && new Uint32Array(result.buffers[0]!.buffer)[4])
    // Without loop iterations the result is 1000 · (start + 1) + number, whose last three digits are the
    // number.
    expect(ends).toEqual(numbers)
  },
)

it.skipIf(!hasProgram('g++'))(
  'stops a kernel in which a lane of the mask, or a thread of the block, does not arrive (needs g++)',
  async () => {
    const source = (statements: string) => `enable subgroups; diagnostic(off, subgroup_uniformity);
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(32) fn main(@builtin(local_invocation_index) i: u32) { ${statements} }`
    const meet = emitCuda(
      lower(parseWgsl(source('out[i] = subgroupAdd(i); workgroupBarrier(); out[i] += 1u;'))),
      {
        bounds: 'clamp',
        lineDirectives: false,
      },
    )
    const changed = (from: string, to: string) => {
      const body = meet.parts.body.replace(from, to)
      expect(body).not.toBe(meet.parts.body)
      return { ...meet, parts: { ...meet.parts, body } }
    }
    const early = 'if (i_ == 3u) return; '
    const kernels = [
      meet,
      changed(
        'const unsigned t0 = subgroupAdd(0xffffffffu',
        `${early}const unsigned t0 = subgroupAdd(0xffffffffu`,
      ),
      changed('subgroupAdd(0xffffffffu', 'subgroupAdd(0xfffffff7u'),
      changed('__syncthreads()', `${early}__syncthreads()`),
    ]
    const program = await buildCpuProgram(kernels)
    const results = await program.run(
      kernels.map((_, k) => ({ kernel: k, grid: [1, 1, 1], parameters: [new Uint8Array(128), 128n] })),
    )
    expect(results.map((r) => ('failure' in r ? r.failure : 'ok'))).toEqual([
      'ok',
      'failed status 3',
      'failed status 3',
      'failed status 3',
    ])
  },
)

it.skipIf(!hasProgram('g++'))('stops a kernel whose C++ divides by zero (needs g++)', async () => {
  const source = `@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1) fn main() { let a = out[0]; let b = out[1]; out[2] = a / b; }`
  const kernel = emitCuda(lower(parseWgsl(source)), { bounds: 'clamp', lineDirectives: false })
  const guarded = /div\((\w+), (\w+)\)/g
  expect(kernel.parts.body.match(guarded)).toHaveLength(1)
  const wrong = { ...kernel, parts: { ...kernel.parts, body: kernel.parts.body.replace(guarded, '$1 / $2') } }
  const program = await buildCpuProgram([kernel, wrong])
  const run = (index: number, a: number, b: number) => ({
    kernel: index,
    grid: [1, 1, 1] as const,
    parameters: [new Uint8Array(Int32Array.of(a, b, 0, 0, 0).buffer), 20n],
  })
  const results = await program.run([run(0, 7, 3), run(0, 5, 0), run(1, 5, 0), run(1, 5, 1)])
  expect(results.map((r) => ('failure' in r ? r.failure : 'ok'))).toEqual([
    ...['ok', 'ok', 'failed signal 4', 'ok'],
  ])
})

it.skipIf(!hasProgram('g++'))('removes programs that no test has used for a week (needs g++)', async () => {
  const source = '@compute @workgroup_size(1) fn main() {}'
  const kernels = [emitCuda(lower(parseWgsl(source)), { bounds: 'clamp', lineDirectives: false })]
  await buildCpuProgram(kernels)
  const aged = (name: string, days: number) => {
    const path = join(cache, name)
    const time = Date.now() / 1000 - days * 86_400
    writeFileSync(path, '')
    utimesSync(path, time, time)
    return path
  }
  const [old, recent] = [aged(`old-${process.pid}.o`, 8), aged(`recent-${process.pid}.o`, 6)]
  await buildCpuProgram(kernels)
  expect([existsSync(old), existsSync(recent)]).toEqual([false, true])
  rmSync(recent)
})
