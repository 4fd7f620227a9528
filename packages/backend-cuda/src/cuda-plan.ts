import type { Plan } from '@tandem-gpu/core'
import type { Allocation, Handles, PlanCommand, PlanPart } from '@tandem-gpu/core/backend'
import type { CudaKernel } from './cuda-kernel.ts'
import type { CudaHostAllocation } from './host-memory.ts'

/** Memory from a GPU's pool. */
export interface CudaAllocation extends Allocation {
  /** Index of the physical GPU in the group. */
  readonly gpu: number
  readonly address: number
  /** Returns the memory if it belongs to a command queue's buffer. */
  readonly release?: () => void
}

export interface CudaHandles extends Handles {
  readonly allocation: CudaAllocation
  readonly hostAllocation: CudaHostAllocation
  readonly kernel: CudaKernel
}

/** A plan as core records it; has messages if a link has `parts`. */
export type RecordedPlan<C extends PlanPart = PlanCommand> = Plan<CudaHandles, C>

/** A plan in the form that is lowered to graphs. */
export type CudaPlan = Omit<RecordedPlan, 'commands'> & { readonly commands: readonly CudaCommand[] }

export type CudaCommand = PlanCommand | CudaExchange

/** Messages that make progress together. */
export interface CudaExchange
  extends Pick<PlanCommand, 'index' | 'label' | 'device' | 'after' | 'afterPrevious'> {
  readonly kind: 'exchange'
  readonly messages: readonly ExchangedMessage[]
}

/** Contiguous bytes of this rank's device memory that are sent to another rank or received from it. */
export interface ExchangedMessage {
  readonly kind: 'send' | 'receive'
  readonly peer: number
  readonly buffer: number
  readonly byteOffset: number
  readonly byteLength: number
}
