/** Device memory. */
export interface Allocation {
  readonly device: number
  readonly byteLength: number
}

/** Host memory that uploads and downloads use directly: page-locked where the backend can. */
export interface HostAllocation {
  readonly arrayBuffer: ArrayBuffer
}

/** A compiled kernel. */
export interface KernelHandle {
  readonly label: string
}

/** A plan made ready to run. */
export interface Executable {
  readonly label: string
}

/** What a runtime owns and lends to core. A backend extends each with what it keeps there, and gets back what it gave. */
export interface Handles {
  readonly allocation: Allocation
  readonly hostAllocation: HostAllocation
  readonly kernel: KernelHandle
  readonly executable: Executable
}
