import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { emitCuda, lower, parseWgsl } from '@tandem-gpu/wgsl'
import { expect, it } from 'vitest'
import { stepsOf } from '../../packages/algorithms/src/fft/fft-steps.ts'
import { planFft } from '../../packages/algorithms/src/fft/plan-fft.ts'
import { mayBeMiscompiled } from '../../packages/backend-cuda/src/machine-code.ts'
import { findNvcc, run } from './nvcc.ts'

const nvcc = (await findNvcc(['nvcc']))?.nvcc
const limits = { lines: true, workgroupMemoryByteLength: 98_304, workgroupInvocations: 1024 }

it.skipIf(nvcc === undefined)(
  'kernels of FFTs of lengths that are not shipped keep their optimization (needs nvcc of the CUDA toolkit)',
  { timeout: 120_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tandem-optimized-'))
    const without: string[] = []
    try {
      // Their addresses are quotients of ranges, and 37 is a prime.
      for (const length of [21, 37, 60, 105, 720]) {
        const plan = planFft({ shape: [3, length], axes: [1], limits })
        for (const { source: kernel } of plan.passes.flatMap((pass) => stepsOf(plan, pass))) {
          const { wgsl, constants = {}, label } = kernel
          const file = join(folder, 'k.cu')
          writeFileSync(file, emitCuda(lower(parseWgsl(wgsl), { constants }), { bounds: 'clamp' }).source)
          for (const kind of ['ptx', 'cubin'])
            await run(nvcc!, ['-std=c++17', `-${kind}`, '-arch=sm_90', file, '-o', join(folder, kind)])
          const [ptx, cubin] = [
            readFileSync(join(folder, 'ptx'), 'utf8'),
            readFileSync(join(folder, 'cubin')),
          ]
          if (mayBeMiscompiled({ ptx, cubin }, 'sm_90')) without.push(label ?? `${length}`)
        }
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
    expect(without).toEqual([])
  },
)
