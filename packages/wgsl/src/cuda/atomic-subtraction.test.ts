import { expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { emitCuda } from './emit-cuda.ts'
import { hasProgram } from './testing/kernel-cases.ts'
import { nvccPtx } from './testing/nvcc-ptx.ts'
import { parsePtx, runPtx } from './testing/ptx.ts'

/** Subtracts values of which only the highest bit can be set; nvcc recognizes this in each form. */
const source = `@group(0) @binding(0) var<storage, read_write> sums: array<atomic<u32>, 3>;
@group(0) @binding(1) var<storage, read_write> differences: array<atomic<i32>, 3>;
@group(0) @binding(2) var<storage, read> input: array<u32, 1>;
@compute @workgroup_size(1) fn main() {
  let x = input[0];
  atomicSub(&sums[0], x << 31u);
  atomicSub(&sums[1], x * 2147483648u);
  atomicSub(&sums[2], x & 2147483648u);
  atomicSub(&differences[0], i32(x << 31u));
  atomicSub(&differences[1], i32(x * 2147483648u));
  atomicSub(&differences[2], i32(x & 2147483648u));
}`

it.skipIf(!hasProgram('nvcc'))(
  "subtracts a value of only the highest bit in nvcc's PTX (needs nvcc)",
  { timeout: 600_000 },
  () => {
    const kernel = emitCuda(lower(parseWgsl(source)), { bounds: 'clamp', lineDirectives: false })
    const module = parsePtx(nvccPtx(kernel.source))
    for (const input of [0x80000001, 0x80000000, 1, 2]) {
      const arrays = [Uint32Array.of(5, 6, 7), Uint32Array.of(8, 9, 10), Uint32Array.of(input)]
      runPtx(module, kernel.entryName, {
        grid: [1, 1, 1],
        block: [1, 1, 1],
        dynamicSharedByteLength: 0,
        parameters: kernel.parameters.map(({ kind, bindingIndex }) => {
          const array = arrays[bindingIndex!]!
          return kind === 'storage' ? new Uint8Array(array.buffer) : BigInt(array.byteLength)
        }),
        mostSteps: 1000,
      })
      const low = (input & 1) << 31
      const subtracted = [low, low, input & 0x80000000]
      const expected = [5, 6, 7, 8, 9, 10].map((n, i) => (n - subtracted[i % 3]!) >>> 0)
      expect([...arrays[0]!, ...arrays[1]!], `input ${input}`).toEqual(expected)
    }
  },
)
