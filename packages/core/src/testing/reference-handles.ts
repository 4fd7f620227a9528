import type { ReferenceKernel } from '@tandem-gpu/wgsl/reference'
import type { Allocation, Executable, Handles, HostAllocation, KernelHandle } from '../backend/handles.ts'
import type { KernelSource } from '../backend/kernel-source.ts'
import type { Plan, PlanPart } from '../plan/plan.ts'

/** What the reference runtime lends to core. */
export interface ReferenceHandles extends Handles {
  readonly allocation: ReferenceAllocation
  readonly hostAllocation: HostAllocation
  readonly kernel: ReferenceKernelHandle
  readonly executable: ReferenceExecutable
}

export interface ReferenceAllocation extends Allocation {
  readonly bytes: Uint8Array<ArrayBuffer>
}

export interface ReferenceKernelHandle extends KernelHandle {
  readonly source: KernelSource
  readonly kernel: ReferenceKernel
}

export interface ReferenceExecutable extends Executable {
  readonly plan: Plan<ReferenceHandles, PlanPart>
}
