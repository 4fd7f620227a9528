import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compareBuffers } from '../../testing/index.ts'
import type { CudaKernel } from '../kernel.ts'
import { fragmentsFor, preludeText } from '../prelude/link.ts'
import { cpuJob, type KernelCase } from './kernel-cases.ts'
import { type PtxModule, type PtxRun, parsePtx, runPtx } from './ptx.ts'

/** The PTX that nvcc makes of CUDA C++. */
export function nvccPtx(text: string, architecture = 'sm_90'): string {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-ptx-'))
  try {
    writeFileSync(join(folder, 'kernel.cu'), text)
    execFileSync('nvcc', ['-std=c++17', `-arch=${architecture}`, '-w', '-ptx', 'kernel.cu'], {
      cwd: folder,
      stdio: 'pipe',
    })
    return readFileSync(join(folder, 'kernel.ptx'), 'utf8')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Compiles kernels to PTX at once; the n-th is `entryN`. */
export function kernelsPtx(kernels: readonly CudaKernel[]): PtxModule {
  const bodies = kernels.map(
    ({ entryName, parts }, i) => `namespace k${i} {\n${parts.body.replace(`${entryName}(`, `entry${i}(`)}\n}`,
  )
  const prelude = preludeText(fragmentsFor(kernels.flatMap(({ parts }) => parts.preludeNames)), 'cuda')
  return parsePtx(nvccPtx(`namespace wgsl {\n${prelude}\n${bodies.join('\n')}\n}\n`))
}

/** The contents of the buffers after the kernel `name` of a module has run. */
export function ptxResults(
  kernelCase: KernelCase,
  kernel: CudaKernel,
  module: PtxModule,
  name = kernel.entryName,
  order: PtxRun['order'] = 'rising',
): Uint8Array[] {
  const buffers = kernelCase.inputs.map(({ bytes }) => bytes.slice())
  const { grid, parameters } = cpuJob(kernelCase, kernel, 0)
  runPtx(module, name, {
    grid,
    block: kernel.workgroupSize,
    dynamicSharedByteLength: kernel.dynamicSharedByteLength,
    parameters: parameters.map((parameter) => {
      const i = kernelCase.inputs.findIndex(({ bytes }) => bytes === parameter)
      return buffers[i] ?? parameter
    }),
    order,
    mostSteps: 50_000_000,
  })
  return buffers
}

/** The differences between these contents and those that the reference executor leaves. */
export function ptxDifferences(
  { inputs, test }: KernelCase,
  found: readonly Uint8Array[],
  expected: readonly Uint8Array[],
): string[] {
  return inputs.flatMap(({ buffer, binding }, i) => {
    const difference = buffer && compareBuffers(buffer, found[i]!, expected[i]!, test.tolerance)
    return difference === undefined ? [] : [`${binding.name}: ${difference}`]
  })
}
