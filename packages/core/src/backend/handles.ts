/** Device memory. */
export interface Allocation {
  readonly device: number
  readonly byteLength: number
}

/** Host memory that uploads and downloads use directly: page-locked if the backend supports that. */
export interface HostAllocation {
  readonly arrayBuffer: ArrayBuffer
}

/** A compiled kernel. */
export interface KernelHandle {
  readonly label: string
}

/** A plan that is ready to run. */
export interface Executable {
  readonly label: string
  /** Whether a run of it can be ended inside its kernels, after which the runtime can still be used. */
  readonly stoppable?: boolean
}

/**
 * The objects that a runtime returns to core. A backend adds its own members to each, and core passes back
 * the same objects.
 */
export interface Handles {
  readonly allocation: Allocation
  readonly hostAllocation: HostAllocation
  readonly kernel: KernelHandle
  readonly executable: Executable
}
