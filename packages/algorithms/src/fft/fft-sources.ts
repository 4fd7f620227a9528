import type { CompileOptions } from '@tandem-gpu/core'
import { stepsOf } from './fft-steps.ts'
import { genericSources } from './generic-kernels.ts'
import { type FftLimits, planFft } from './plan-fft.ts'

/**
 * The minimum limits of NVIDIA GPUs of compute capability 8 and above. Higher limits result in the same
 * kernels for these lengths.
 */
const shippedLimits: FftLimits = {
  lines: true,
  workgroupMemoryByteLength: 98_304,
  workgroupInvocations: 1024,
}

/** Lengths of lines and columns whose kernels are shipped compiled. */
const lineLengths = [32, 64, 128, 256, 512, 1024, 2048, 4096]
const columnLengths = [64, 128, 256, 512, 1024]

/**
 * Kernels for tests and for ahead-of-time compilation: the generic ones, and those of common lengths that fit
 * `limits`.
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
