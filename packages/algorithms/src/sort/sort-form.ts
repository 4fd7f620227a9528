import type { Kernel } from '@tandem-gpu/core'
import keysWgsl from './sort-keys.part.wgsl.ts'

/** Types of elements that can be sorted, and of the values that move with them. */
export type SortType = 'f32' | 'i32' | 'u32'

/**
 * How keys are ranked: by subgroups of 32 lanes, through workgroup memory with 4-bit digits, or by one
 * invocation for each range. All variants produce the same bits.
 */
export type SortVariant = 'subgroups' | 'workgroup' | 'serial'

/** What moves with the keys: nothing, given values, or the indices of the elements. */
export type SortedValues = 'none' | 'given' | 'indices'

/** The dimensions of a variant's kernels. */
export interface SortForm {
  readonly variant: SortVariant
  readonly bits: 4 | 8
  readonly threads: number
  readonly each: number
  /** The number of workgroups that should share a multiprocessor. */
  readonly together?: number | undefined
}

/** The kernels of a pass. */
export interface PassKernels {
  readonly form: SortForm
  readonly count: Kernel
  readonly starts: Kernel
  readonly scatter: Kernel
}

/** Source text that all kernels of the sort share, for keys of a type. */
export function keysText(type: SortType): string {
  return `const FLOATS = ${type === 'f32'};\n${keysWgsl}`
}
