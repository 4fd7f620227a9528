import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { CudaKernel } from './kernel.ts'
import { programText } from './testing/cpu-program.ts'
import { hasProgram, loadKernelCases, translate } from './testing/kernel-cases.ts'

/** The rules of WGSL that C++ does not have; each has a pair of files in testdata/cuda. */
const goldens = loadKernelCases('cuda')
const nvcc = ['nvcc', '/usr/local/cuda/bin/nvcc'].find(hasProgram)

describe('translations to CUDA C++', () => {
  it.each(goldens)('$name', async (golden) => {
    const stem = golden.name.replace(/\.wgsl$/, '')
    await expect(translate(golden, 'clamp').source).toMatchFileSnapshot(`../../testdata/${stem}.cu`)
    if (!stem.includes('out-of-bounds')) return
    await expect(translate(golden, 'trap').source).toMatchFileSnapshot(`../../testdata/${stem}.trap.cu`)
    await expect(translate(golden, 'unchecked').source).toMatchFileSnapshot(
      `../../testdata/${stem}.unchecked.cu`,
    )
  })
})

/** Compiles with nvcc for sm_90; what it says. */
function compile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-nvcc-'))
  try {
    const file = join(folder, 'kernels.cu')
    writeFileSync(file, text)
    execFileSync(nvcc!, ['-std=c++17', '-cubin', '-arch=sm_90', file, '-o', join(folder, 'kernels.cubin')], {
      stdio: 'pipe',
    })
    return ''
  } catch (error) {
    return String((error as { stderr?: Buffer }).stderr).slice(0, 4000)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe.skipIf(nvcc === undefined)('nvcc (needs the CUDA toolkit)', () => {
  it('compiles each golden translation by itself', { timeout: 300_000 }, () => {
    for (const golden of goldens) expect(compile(translate(golden, 'clamp').source), golden.name).toBe('')
  })

  it.each(['clamp', 'trap', 'unchecked'] as const)(
    'compiles the corpus with bounds: %s',
    { timeout: 600_000 },
    (bounds) => {
      const all = loadKernelCases('kernels')
      // The other modes differ only in accesses: a part of the corpus shows it.
      const cases = bounds === 'clamp' ? all : all.filter((_, i) => i % 5 === 0)
      const kernels: CudaKernel[] = cases.map((c) => translate(c, bounds))
      for (let i = 0; i < kernels.length; i += 100)
        expect(compile(programText(kernels.slice(i, i + 100), 'cuda')), `kernels from ${i}`).toBe('')
    },
  )
})
