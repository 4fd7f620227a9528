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
  reachesOutside,
  referenceRun,
  translate,
  translateIndirect,
  translateStoppable,
} from './testing/kernel-cases.ts'

const cases = loadKernelCases('cuda', 'accepted', 'generated')
const hasCompiler = hasProgram('g++')
const dawn = await openDawnDevice()

/** The differences between a run and the expected contents of the writable buffers. */
function differences(kernelCase: KernelCase, result: CpuResult, expected: readonly Uint8Array[]): string[] {
  if ('failure' in result) return [`${kernelCase.name} ${result.failure}`]
  return kernelCase.inputs.flatMap(({ binding, buffer }, i) => {
    if (binding.access === 'read' || buffer === undefined) return []
    const difference = compareBuffers(buffer, result.buffers[i]!, expected[i]!, kernelCase.test.tolerance)
    return difference === undefined ? [] : [`${kernelCase.name} ${difference}`]
  })
}

const stoppableCases = cases.filter(
  (c) => translateStoppable(c, 'clamp').source !== translate(c, 'clamp').source,
)

/** The cases with several workgroups. */
const indirectCases = cases.filter(({ test }) => test.workgroups.reduce((product, n) => product * n) > 1)

const isAboutBounds = /bounds|index|clamp|robust|half-words/
/**
 * The bounds mode changes only the text of accesses, so kernels with matching names and every third kernel
 * suffice; TANDEM_LONG=1 runs all.
 */
const trapCases = cases.filter(
  ({ name }, i) => i % 3 === 0 || isAboutBounds.test(name) || process.env.TANDEM_LONG === '1',
)

async function runOnCpu(
  bounds: 'clamp' | 'trap',
  chosen: readonly KernelCase[],
  translated = translate,
): Promise<CpuResult[]> {
  const kernels = chosen.map((c) => translated(c, bounds))
  const program = await buildCpuProgram(kernels)
  return program.run(chosen.map((c, i) => cpuJob(c, kernels[i]!, i)))
}

describe.skipIf(!hasCompiler)('translated kernels on the CPU (needs g++)', () => {
  let results: Promise<CpuResult[]> | undefined
  const clamped = () => {
    results ??= runOnCpu('clamp', cases)
    return results
  }

  it('have the results of the reference executor', { timeout: 600_000 }, async () => {
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

  it('have the same results if their loops check the stop word', { timeout: 600_000 }, async () => {
    const bad: string[] = []
    for (const [i, result] of (await runOnCpu('clamp', stoppableCases, translateStoppable)).entries()) {
      const kernelCase = stoppableCases[i]!
      bad.push(...differences(kernelCase, result, referenceRun(kernelCase)))
    }
    expect(bad).toEqual([])
    expect(stoppableCases.length).toBeGreaterThan(50)
  })

  it('have the same results if one block runs all workgroups', { timeout: 600_000 }, async () => {
    const bad: string[] = []
    for (const [i, result] of (await runOnCpu('clamp', indirectCases, translateIndirect)).entries()) {
      const kernelCase = indirectCases[i]!
      bad.push(...differences(kernelCase, result, referenceRun(kernelCase)))
    }
    expect(bad).toEqual([])
    expect(indirectCases.length).toBeGreaterThan(75)
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

  it('report what reaches outside of bindings, and nothing else, with bounds: trap', {
    timeout: 600_000,
  }, async () => {
    const bad: string[] = []
    const trapped: string[] = []
    const inBounds = await clamped()
    for (const [i, result] of (await runOnCpu('trap', trapCases)).entries()) {
      const kernelCase = trapCases[i]!
      if ('failure' in result) {
        bad.push(`${kernelCase.name} ${result.failure}`)
        continue
      }
      const record = new Uint32Array(result.buffers.at(-1)!.slice().buffer)
      const isReported = record[0] !== 0
      if (isReported !== reachesOutside(kernelCase))
        bad.push(`${kernelCase.name} ${isReported ? 'reports' : 'does not report'} an access`)
      if (isReported) {
        trapped.push(kernelCase.name)
        expect(record[1]).toBeLessThan(kernelCase.inputs.length)
        continue
      }
      const expected = inBounds[cases.indexOf(kernelCase)]!
      if (!('failure' in expected)) bad.push(...differences(kernelCase, result, expected.buffers))
    }
    expect(bad).toEqual([])
    expect(trapped.length).toBeGreaterThan(5)
    expect(trapped).toContain('out-of-bounds.wgsl')
    expect(trapped.filter((name) => !isAboutBounds.test(name))).toEqual([])
  })
})
