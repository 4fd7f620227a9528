import { expect, it } from 'vitest'
import { lower, parseWgsl } from '../../frontend/lower.ts'
import { emitCuda } from '../emit-cuda.ts'
import { buildCpuProgram } from './cpu-program.ts'
import { hasProgram } from './kernel-cases.ts'

/** Calls a function of the same name and type in every kernel, too often and too long for the compiler to write it in line. */
function kernel(number: number): string {
  return `
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
fn scramble(start: u32) -> u32 {
  var sum = start;
  ${'for (var i = 0u; i < out[0]; i++) { sum = (sum ^ (sum << 3u)) * 5u + out[sum % 5u] % 11u; }\n'.repeat(20)}
  return sum * 1000u + ${number}u;
}
@compute @workgroup_size(1) fn main() {
  out[1] = scramble(1u); out[2] = scramble(2u); out[3] = scramble(out[1]); out[4] = scramble(out[2] + 1u) % 1000u;
}`
}

it.skipIf(!hasProgram('g++'))(
  'keeps apart functions of many kernels, in several files (needs g++)',
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
    // Without turns of the loop: 1000 · (start + 1) + number, of which the last three digits are the number.
    expect(ends).toEqual(numbers)
  },
)
