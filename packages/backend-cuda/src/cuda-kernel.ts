import type { Bounds } from '@tandem-gpu/core'
import type { KernelForm, KernelHandle, KernelSource } from '@tandem-gpu/core/backend'
import type { Binding, CudaKernel as TranslatedKernel } from '@tandem-gpu/wgsl'

/** A kernel loaded on every GPU of its runtime. */
export interface CudaKernel
  extends KernelHandle,
    Pick<TranslatedKernel, 'workgroupSize' | 'dynamicSharedByteLength' | 'parameters'> {
  /** The ID of the loaded function, by physical GPU. */
  readonly functionIds: readonly number[]
  /** In reflection order, to which `CudaParameter.bindingIndex` and trap records refer. */
  readonly bindings: readonly Pick<Binding, 'group' | 'binding' | 'name'>[]
  readonly bounds: Bounds
  /** Whether the kernel leaves early when it is signalled to. */
  readonly isStoppable: boolean
}

/** The parts of a translation to CUDA C++ that the runtime uses. */
export type Translated = Pick<
  TranslatedKernel,
  | 'source'
  | 'entryName'
  | 'workgroupSize'
  | 'dynamicSharedByteLength'
  | 'parameters'
  | 'lineMap'
  | 'minimumComputeCapability'
> &
  Partial<Pick<TranslatedKernel, 'isStoppable' | 'ptxasLevel'>>

/**
 * `form`: whether the grid is the number of workgroups (`direct`, the default), or the kernel reads that
 * number from memory.
 */
export type Translate = (source: KernelSource, form?: KernelForm) => Translated
