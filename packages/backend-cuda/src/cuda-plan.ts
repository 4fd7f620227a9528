import type { Allocation, Handles, Plan } from '@tandem-gpu/core'
import type { CudaKernel } from './cuda-kernel.ts'
import type { CudaHostAllocation } from './host-memory.ts'

/** Memory from a GPU's pool. */
export interface CudaAllocation extends Allocation {
  /** Index of the physical GPU in the group. */
  readonly gpu: number
  readonly address: number
}

export interface CudaHandles extends Handles {
  readonly allocation: CudaAllocation
  readonly hostAllocation: CudaHostAllocation
  readonly kernel: CudaKernel
}

export type CudaPlan = Plan<CudaHandles>
