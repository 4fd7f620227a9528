import { expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { compileReference } from '../reference/index.ts'
import { testCases } from '../testing/test-cases.ts'
import { emitCuda } from './emit-cuda.ts'
import type { CudaKernel } from './kernel.ts'
import { hasProgram } from './testing/kernel-cases.ts'
import { kernelsPtx } from './testing/nvcc-ptx.ts'
import { type PtxModule, runPtx } from './testing/ptx.ts'
import { exitInput, exitInvocations, randomExits } from './testing/random-exits.ts'

/** The number of kernels that are compiled at a time. */
const batch = 100

/**
 * A kernel that still runs after this many looks of the reference executor, or this many instructions, is
 * considered endless.
 */
const mostLooks = 2
const mostInstructions = 1_000_000

/** The contents of `out` after a kernel on the reference executor; undefined if the kernel does not end. */
function expected(module: ReturnType<typeof lower>, input: Uint32Array): Uint32Array | undefined {
  const out = new Uint32Array(exitInvocations)
  const bindings = new Map([
    ['0.0', new Uint8Array(out.buffer)],
    ['0.1', new Uint8Array(input.buffer)],
  ])
  const endless = new Error('no end')
  let looks = 0
  const onLook = () => {
    if (++looks > mostLooks) throw endless
  }
  try {
    compileReference(module).run({ workgroups: [1, 1, 1], bindings, onLook })
    return out
  } catch (error) {
    if (error === endless) return undefined
    throw error
  }
}

/** The contents of `out` after running the PTX of a kernel. */
function results(
  module: PtxModule,
  { parameters }: CudaKernel,
  index: number,
  input: Uint32Array,
): Uint32Array {
  const out = new Uint32Array(exitInvocations)
  const arrays = parameters.map(({ bindingIndex }) => (bindingIndex === 0 ? out : input))
  runPtx(module, `entry${index}`, {
    grid: [1, 1, 1],
    block: [exitInvocations, 1, 1],
    dynamicSharedByteLength: 0,
    parameters: parameters.map(({ kind }, i) =>
      kind === 'storage' ? new Uint8Array(arrays[i]!.buffer) : BigInt(arrays[i]!.byteLength),
    ),
    mostSteps: mostInstructions,
  })
  return out
}

it.skipIf(!hasProgram('nvcc'))(
  "loops that are left in all manners give the same in nvcc's PTX as on the reference executor (needs nvcc)",
  ({ task }) => {
    const bad: string[] = []
    const all = testCases(60, 5000)
    let ended = 0
    for (let from = 0; from < all.length; from += batch) {
      const seeds = all.slice(from, from + batch)
      const modules = seeds.map((seed) => lower(parseWgsl(randomExits(seed))))
      const kernels = modules.map((module) => emitCuda(module, { bounds: 'clamp', lineDirectives: false }))
      const compiled = kernelsPtx(kernels)
      for (const [i, seed] of seeds.entries()) {
        const input = exitInput(seed)
        const wanted = expected(modules[i]!, input)
        if (wanted === undefined) continue
        ended++
        const found = results(compiled, kernels[i]!, i, input)
        const at = found.findIndex((word, t) => word !== wanted[t])
        if (at >= 0) bad.push(`seed ${seed}: out[${at}] is ${found[at]}, not ${wanted[at]}`)
      }
    }
    task.meta.cases = all.length
    expect(bad).toEqual([])
    expect(ended).toBeGreaterThan(all.length / 2)
  },
)
