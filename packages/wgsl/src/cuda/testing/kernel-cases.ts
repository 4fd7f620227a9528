import { spawnSync } from 'node:child_process'
import { lower, parseWgsl } from '../../frontend/lower.ts'
import type { IrModule } from '../../ir.ts'
import { compileReference, type ExecutionObserver, type ReferenceOptions } from '../../reference/index.ts'
import { type Binding, type Reflection, reflect } from '../../reflect.ts'
import { type CorpusPart, corpus } from '../../testing/corpus.ts'
import { fillBuffer, type KernelBuffer, type KernelTest, parseKernelTest } from '../../testing/index.ts'
import { emitCuda, emitCudaWithLooks } from '../emit-cuda.ts'
import type { CudaBounds, CudaKernel } from '../kernel.ts'
import type { LookIntervals } from '../loop-looks.ts'
import type { CpuJob } from './cpu-program.ts'
import type { DawnJob } from './dawn-device.ts'

/** A kernel of the test data with everything that is needed to run it. */
export interface KernelCase {
  readonly name: string
  readonly source: string
  readonly test: KernelTest
  readonly module: IrModule
  readonly reflection: Reflection
  readonly inputs: readonly KernelInput[]
}

/** A binding, the rule by which the test fills it, and its bytes. */
export interface KernelInput {
  readonly binding: Binding
  readonly buffer: KernelBuffer | undefined
  readonly bytes: Uint8Array
}

/** Kernels of the corpus, lowered. */
export function loadKernelCases(...parts: readonly Exclude<CorpusPart, 'rejected'>[]): KernelCase[] {
  return corpus(...parts).map(({ name, source }) => kernelCase(name, source))
}

/** A kernel with its head, lowered. */
export function kernelCase(name: string, source: string): KernelCase {
  const test = parseKernelTest(source)
  const module = lower(parseWgsl(source, { label: name }), {
    entryPoint: test.entryPoint,
    constants: test.constants,
  })
  const reflection = reflect(module)
  const inputs = reflection.bindings.map((binding) => {
    const buffer = test.buffers.find((b) => b.name === binding.name)
    const bytes = buffer === undefined ? new Uint8Array(binding.minByteLength) : fillBuffer(buffer)
    return { binding, buffer, bytes }
  })
  return { name, source, test, module, reflection, inputs }
}

/** The translation of a case, without `#line`. */
export function translate(kernelCase: KernelCase, bounds: CudaBounds): CudaKernel {
  return emitCuda(kernelCase.module, { bounds, lineDirectives: false })
}

/**
 * Like `translate`, with looks at the stop word as close together as the rules allow: every loop except the
 * shortest is split into pieces.
 */
export function translateStoppable(kernelCase: KernelCase, bounds: CudaBounds): CudaKernel {
  const options = { bounds, lineDirectives: false, stoppable: true } as const
  return emitCudaWithLooks(kernelCase.module, options, closeLooks)
}

/** Like `translate`, for a kernel in which one block runs all workgroups. */
export function translateIndirect(kernelCase: KernelCase, bounds: CudaBounds): CudaKernel {
  return emitCuda(kernelCase.module, { bounds, lineDirectives: false, stoppable: true, indirect: true })
}

/** Intervals of a microsecond or less, by the estimate. */
const closeLooks: LookIntervals = { secondsWithout: 2e-8, secondsBetween: 5e-7 }

/** The contents of the buffers after a run on the reference executor. */
export function referenceRun(kernelCase: KernelCase, observer?: ExecutionObserver): Uint8Array[] {
  return runWith({ observer }, kernelCase)
}

function runWith(options: ReferenceOptions, { inputs, module, test }: KernelCase): Uint8Array[] {
  const buffers = inputs.map(({ bytes }) => bytes.slice())
  const bindings = new Map(
    inputs.map(({ binding }, i) => [`${binding.group}.${binding.binding}`, buffers[i]!]),
  )
  compileReference(module, options).run({ workgroups: test.workgroups, bindings })
  return buffers
}

/** Whether the reference executor reports an access outside of a binding. */
export function reachesOutside(kernelCase: KernelCase): boolean {
  class Outside extends Error {}
  const onOutside = () => {
    throw new Outside()
  }
  try {
    runWith({ onOutside }, kernelCase)
    return false
  } catch (error) {
    if (error instanceof Outside) return true
    throw error
  }
}

/** The byte length of the trap record. */
export const trapRecordByteLength = 64

/**
 * A run of a translated case; every view is the whole binding. With `stopped`, the stop word is set before
 * the run begins.
 */
export function cpuJob(kernelCase: KernelCase, kernel: CudaKernel, index: number, stopped = false): CpuJob {
  const { workgroups } = kernelCase.test
  const isIndirect = kernel.parameters.at(-1)?.kind === 'most-workgroups'
  const parameters = kernel.parameters.map((p): bigint | Uint8Array => {
    if (p.kind === 'trap-record') return new Uint8Array(trapRecordByteLength)
    if (p.kind === 'stop-word-or-null' && !stopped) return 0n
    if (p.kind === 'stop-word' || p.kind === 'stop-word-or-null')
      return Uint8Array.from({ length: 16 }, (_, i) => (stopped && i === 0 ? 1 : 0))
    if (p.kind === 'workgroup-counts') return new Uint8Array(Uint32Array.from(workgroups).buffer)
    if (p.kind === 'most-workgroups') return 65_535n
    const { bytes } = kernelCase.inputs[p.bindingIndex!]!
    if (p.kind === 'storage' || p.kind === 'uniform') return bytes
    if (p.kind === 'byte-length') return BigInt(bytes.byteLength)
    if (p.name.endsWith('rowbytes') || p.name.endsWith('rowstride')) return BigInt(bytes.byteLength)
    return p.name.endsWith('rows') ? 1n : 0n
  })
  return { kernel: index, grid: isIndirect ? [1, 1, 1] : workgroups, parameters }
}

/** The same run on Dawn. */
export function dawnJob(kernelCase: KernelCase): DawnJob {
  return {
    wgsl: kernelCase.source,
    entryPoint: kernelCase.reflection.entryPoint,
    constants: kernelCase.test.constants,
    workgroups: kernelCase.test.workgroups,
    bindings: kernelCase.inputs.map(({ binding, bytes }) => ({
      group: binding.group,
      binding: binding.binding,
      space: binding.space,
      bytes,
    })),
  }
}

/** Whether a program of this name can be started. */
export function hasProgram(name: string): boolean {
  return spawnSync(name, ['--version']).status === 0
}
