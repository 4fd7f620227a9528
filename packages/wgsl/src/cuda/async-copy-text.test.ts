import { describe, expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { emitCuda } from './emit-cuda.ts'
import { buildCpuProgram } from './testing/cpu-program.ts'
import { hasProgram } from './testing/kernel-cases.ts'

describe('the translation of asynchronous copies', () => {
  const module = lower(
    parseWgsl(`
@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4f>;
@group(0) @binding(2) var<uniform> n: u32;
var<workgroup> tile: array<vec4f, 256>;
@compute @workgroup_size(32) fn main(@builtin(local_invocation_index) t: u32) {
  tile[t] = a[n + t];
  workgroupBarrier();
  out[t] = tile[31u - t];
}`),
  )

  it('is a plain assignment with bounds: trap', () => {
    expect(emitCuda(module, { bounds: 'clamp' }).parts.body).toContain(
      '  async_copy(tile_[t_], a_[min(n_ + t_, a_length - 1u)]);\n  async_wait();\n  __syncthreads();',
    )
    expect(emitCuda(module, { bounds: 'unchecked' }).parts.body).toContain(
      'async_copy(tile_[t_], a_[n_ + t_]);',
    )
    expect(emitCuda(module, { bounds: 'trap' }).source).not.toContain('async')
  })

  it.skipIf(!hasProgram('g++'))(
    'gives wrong results on the CPU if nothing waits for the copy (needs g++)',
    async () => {
      const kernel = emitCuda(module, { bounds: 'clamp' })
      const body = kernel.parts.body.replace('  async_wait();\n', '')
      const program = await buildCpuProgram([kernel, { ...kernel, parts: { ...kernel.parts, body } }])
      const input = Float32Array.from({ length: 128 }, (_, i) => i)
      const job = (index: number) => ({
        kernel: index,
        grid: [1, 1, 1] as const,
        parameters: [
          new Uint8Array(input.buffer.slice(0)),
          512n,
          new Uint8Array(512),
          512n,
          new Uint8Array(4),
        ],
      })
      const [good, bad] = await program.run([job(0), job(1)])
      if (good === undefined || bad === undefined || 'failure' in good || 'failure' in bad)
        throw new Error('a job fails')
      const reversed = Array.from({ length: 32 }, (_, i) => [
        ...input.subarray((31 - i) * 4, (32 - i) * 4),
      ]).flat()
      expect([...new Float32Array(good.buffers[1]!.slice().buffer)]).toEqual(reversed)
      expect([...new Float32Array(bad.buffers[1]!.slice().buffer)]).not.toEqual(reversed)
    },
  )
})
