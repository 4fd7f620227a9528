import { type Backend, GpuError } from '@tandem-gpu/core'
import type { CudaOptions } from './cuda.ts'

export type { CudaOptions } from './cuda.ts'
export type { KernelCacheOptions } from './kernel-cache.ts'
export type { Libraries } from './libraries.ts'
export type { Lowering } from './lowering.ts'

const absence = {
  code: 'no-driver',
  reason: 'A browser gives pages no access to CUDA.',
  remedy: 'Use @tandem-gpu/backend-webgpu in a page.',
} as const

/**
 * The variant that bundlers select for browsers: a backend that finds no GPU, so that the same list of
 * backends works in Node and in pages.
 */
export function cuda(_options: CudaOptions = {}): Backend {
  return {
    name: 'cuda',
    adapters: async () => ({ adapters: [], absence }),
    open: async () => {
      throw new GpuError(absence.code, `${absence.reason} ${absence.remedy}`)
    },
  }
}
