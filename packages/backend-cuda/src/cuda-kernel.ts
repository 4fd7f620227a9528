import type { Bounds } from '@tandem-gpu/core'
import type { KernelForm, KernelHandle, KernelSource } from '@tandem-gpu/core/backend'
import type { Binding, CudaKernel as TranslatedKernel } from '@tandem-gpu/wgsl'

/** A kernel loaded on every GPU of its runtime. */
export interface CudaKernel
  extends KernelHandle,
    Pick<TranslatedKernel, 'workgroupSize' | 'dynamicSharedByteLength' | 'parameters'> {
  /** Id of the loaded function, by physical GPU. */
  readonly functionIds: readonly number[]
  /** In reflection order: `CudaParameter.bindingIndex` and trap records count in it. */
  readonly bindings: readonly Pick<Binding, 'group' | 'binding' | 'name'>[]
  readonly bounds: Bounds
  /** Whether it leaves once it is told to. */
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
  Partial<Pick<TranslatedKernel, 'isStoppable'>>

/**
 * `form`: whether the grid is the workgroups, or the kernel reads how many there are; `direct` where absent.
 */
export type Translate = (source: KernelSource, form?: KernelForm) => Translated
