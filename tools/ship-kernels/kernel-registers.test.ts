import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { emitCuda } from '@tandem-gpu/wgsl'
import { expect, it } from 'vitest'
import { findNvcc, run } from './nvcc.ts'
import { shippedModules } from './shipped-sources.ts'

const nvcc = (await findNvcc(['nvcc']))?.nvcc

/** The registers of a multiprocessor of compute capability 9.0. */
const registers = 65_536

/**
 * For kernels whose speed depends on occupancy: the minimum number of workgroups whose registers must fit on
 * one multiprocessor.
 */
const watched: Readonly<Record<string, number>> = {
  'scan-sums-vectors-subgroups sum f32': 8,
  'scan-tiles-vectors-subgroups sum f32': 6,
  'histogram-workgroup-1024 f32': 6,
  'sort-count-workgroup-8 u32': 8,
  'sort-scatter-512x16 u32 keys': 2,
  'sort-scatter-512x16 u32 with u32': 2,
  'fft 8·8·8 lines, 4 × 64 pairs': 6,
  'fft 16·16·4 lines, 4 × 64 pairs': 3,
  'fft 16·16·8 lines, 2 × 128 pairs': 3,
  'fft 16·16·16 lines, 1 × 256 pairs': 3,
  'fft 32·16 columns, 16 × 16 pairs': 2,
}

it.skipIf(nvcc === undefined)(
  'kernels leave room for as many workgroups as were measured, and spill no registers (needs nvcc of the CUDA toolkit)',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tandem-registers-'))
    try {
      const modules = new Map(shippedModules().map((source) => [source.label, source]))
      const found: Record<string, { workgroups: number; spilled: number }> = {}
      for (const [index, label] of Object.keys(watched).entries()) {
        const { module, ...options } = modules.get(label)!
        const { source, workgroupSize } = emitCuda(module, { ...options, stoppable: 'start' })
        const file = join(folder, `${index}.cu`)
        writeFileSync(file, source)
        const flags = ['-std=c++17', '-cubin', '-arch=sm_90', '-Xptxas', '-v']
        const { stderr } = await run(nvcc!, [...flags, file, '-o', `${file}bin`])
        // A warp gets its registers in eights for each thread.
        const each = 8 * Math.ceil(Number(/Used (\d+) registers/.exec(stderr)![1]) / 8)
        const threads = workgroupSize[0] * workgroupSize[1] * workgroupSize[2]
        found[label] = {
          workgroups: Math.floor(registers / each / threads),
          spilled: Number(/(\d+) bytes spill stores/.exec(stderr)![1]),
        }
      }
      for (const [label, { workgroups, spilled }] of Object.entries(found)) {
        expect(workgroups, label).toBeGreaterThanOrEqual(watched[label]!)
        expect(spilled, label).toBe(0)
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)
