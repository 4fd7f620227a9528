import { describe, expect, it } from 'vitest'
import { compareBuffers } from '../testing/index.ts'
import { buildCpuProgram, type CpuResult } from './testing/cpu-program.ts'
import { openDawnDevice } from './testing/dawn-device.ts'
import {
  cpuJob,
  dawnJob,
  hasProgram,
  type KernelCase,
  loadKernelCases,
  referenceRun,
  translate,
} from './testing/kernel-cases.ts'

const cases = loadKernelCases('cuda', 'accepted', 'generated')
const hasCompiler = hasProgram('g++')
const dawn = await openDawnDevice()

/** Where a run differs from the expected contents of the writable buffers. */
function differences(kernelCase: KernelCase, result: CpuResult, expected: readonly Uint8Array[]): string[] {
  if ('failure' in result) return [`${kernelCase.name} ${result.failure}`]
  return kernelCase.inputs.flatMap(({ binding, buffer }, i) => {
    if (binding.access === 'read' || buffer === undefined) return []
    const difference = compareBuffers(buffer, result.buffers[i]!, expected[i]!, kernelCase.test.tolerance)
    return difference === undefined ? [] : [`${kernelCase.name} ${difference}`]
  })
}

async function runOnCpu(bounds: 'clamp' | 'trap'): Promise<CpuResult[]> {
  const kernels = cases.map((c) => translate(c, bounds))
  const program = await buildCpuProgram(kernels)
  return program.run(cases.map((c, i) => cpuJob(c, kernels[i]!, i)))
}

describe.skipIf(!hasCompiler)('translated kernels on the CPU (needs g++)', () => {
  let results: Promise<CpuResult[]> | undefined
  const clamped = () => {
    results ??= runOnCpu('clamp')
    return results
  }

  it('give what the reference executor gives', { timeout: 600_000 }, async () => {
    const bad: string[] = []
    let compared = 0
    for (const [i, result] of (await clamped()).entries()) {
      const kernelCase = cases[i]!
      bad.push(...differences(kernelCase, result, referenceRun(kernelCase)))
      compared++
    }
    expect(bad).toEqual([])
    expect(compared).toBeGreaterThan(780)
  })

  it.skipIf(typeof dawn === 'string')(
    `give what Dawn gives on SwiftShader${typeof dawn === 'string' ? ` (needs ${dawn})` : ''}`,
    { timeout: 600_000 },
    async () => {
      if (typeof dawn === 'string') return
      const bad: string[] = []
      let compared = 0
      for (const [i, result] of (await clamped()).entries()) {
        const kernelCase = cases[i]!
        if (kernelCase.module.features.some((f) => !dawn.features.has(f))) continue
        bad.push(...differences(kernelCase, result, await dawn.run(dawnJob(kernelCase))))
        compared++
      }
      expect(bad).toEqual([])
      expect(compared).toBeGreaterThan(700)
    },
  )

  it('keep to their bindings, or report the access, with bounds: trap', { timeout: 600_000 }, async () => {
    const bad: string[] = []
    const trapped: string[] = []
    const inBounds = await clamped()
    for (const [i, result] of (await runOnCpu('trap')).entries()) {
      const kernelCase = cases[i]!
      if ('failure' in result) {
        bad.push(`${kernelCase.name} ${result.failure}`)
        continue
      }
      const record = new Uint32Array(result.buffers.at(-1)!.slice().buffer)
      if (record[0] !== 0) {
        trapped.push(kernelCase.name)
        expect(record[1]).toBeLessThan(kernelCase.inputs.length)
        continue
      }
      const expected = inBounds[i]!
      if (!('failure' in expected)) bad.push(...differences(kernelCase, result, expected.buffers))
    }
    expect(bad).toEqual([])
    expect(trapped).toContain('cuda/out-of-bounds.wgsl')
    expect(trapped.filter((name) => !/bounds|index|clamp|robust/.test(name))).toEqual([])
  })
})
