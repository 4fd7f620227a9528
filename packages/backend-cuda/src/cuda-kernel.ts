import type { Bounds, KernelHandle, KernelSource } from '@tandem-gpu/core'
import type { CudaParameter, CudaKernel as TranslatedKernel } from '@tandem-gpu/wgsl'

/** The binding a parameter belongs to, in the terms of a plan. */
export interface BindingPosition {
  readonly group: number
  readonly binding: number
  readonly name: string
}

/** A kernel loaded on every GPU of its runtime. */
export interface CudaKernel extends KernelHandle {
  /** Id of the loaded function, by physical GPU. */
  readonly functionIds: readonly number[]
  readonly workgroupSize: readonly [x: number, y: number, z: number]
  readonly dynamicSharedByteLength: number
  readonly parameters: readonly CudaParameter[]
  /** In reflection order: `CudaParameter.bindingIndex` and trap records count in it. */
  readonly bindings: readonly BindingPosition[]
  readonly bounds: Bounds
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
>

export type Translate = (source: KernelSource) => Translated
