import type { CompileOptions } from '@tandem-gpu/core'
import { stepsOf } from './fft-steps.ts'
import { genericSources } from './generic-kernels.ts'
import { type FftLimits, planFft } from './plan-fft.ts'

/**
 * What NVIDIA's GPUs of compute capability 8 and above have at least. With more, the kernels of these lengths
 * are the same.
 */
const shippedLimits: FftLimits = {
  lines: true,
  workgroupMemoryByteLength: 98_304,
  workgroupInvocations: 1024,
}

/** Lengths of lines, and of columns, that are shipped compiled. */
const lineLengths = [32, 64, 128, 256, 512, 1024, 2048, 4096]
const columnLengths = [64, 128, 256, 512, 1024]

/**
 * Kernels for tests and for compilation ahead of time: those for any length, and those of common lengths that
 * suit `limits`.
 */
export function fftSources(limits: FftLimits = shippedLimits): CompileOptions[] {
  const shapes = [
    ...lineLengths.map((length) => ({ shape: [length, length], axes: [1] })),
    ...columnLengths.map((length) => ({ shape: [length, length], axes: [0] })),
  ]
  const common = shapes.flatMap((options) => {
    const plan = planFft({ ...options, limits })
    return plan.passes.flatMap((pass) => stepsOf(plan, pass).map(({ source }) => source))
  })
  return [...genericSources(), ...common]
}
