import type { Extent, Plan, PlanCommand, PlanPart } from '../plan/plan.ts'
import type { Ranks } from '../ranks/ranks.ts'
import type { Adapter } from './adapter.ts'
import type { CommandQueue, CommandQueueOptions } from './command-queue.ts'
import type { ExecutionOptions, ExecutionResult } from './execution.ts'
import type { Allocation, Handles } from './handles.ts'
import type { KernelSource } from './kernel-source.ts'

/**
 * Open devices. `write`, `read` and `run` take effect in the order of the calls; each promise settles when
 * its work has completed. Errors are `GpuError`s. `H` is the backend's own handle types, `C` the type of the
 * commands in its plans.
 */
export interface Runtime<H extends Handles = Handles, C extends PlanPart = PlanCommand> {
  readonly devices: readonly Adapter[]
  /** Resolves when the devices are lost, with reason `destroyed` after `dispose`; never rejects. */
  readonly lost: Promise<LostInfo>
  /** Only a runtime over several processes has them: see `RankedRuntime`. */
  readonly ranks?: undefined
  /** Whether a kernel on `reader` may bind memory of `owner`, which is another device. */
  canAccessPeer(reader: number, owner: number): boolean
  /**
   * If `zero` is false, the contents are undefined. `byteLength` is any positive number; backends pad it as
   * needed.
   */
  allocate(device: number, byteLength: number, options: AllocationOptions): Promise<H['allocation']>
  free(allocation: H['allocation']): void
  /** Throws a RangeError, as `ArrayBuffer` does, or `out-of-memory`. */
  allocateHost(byteLength: number): H['hostAllocation']
  /** Detaches `arrayBuffer`. */
  freeHost(allocation: H['hostAllocation']): void
  /** For every device of the runtime. Rejects with `compilation` (line, column) or `unsupported`. */
  compile(source: KernelSource): Promise<H['kernel']>
  releaseKernel(kernel: H['kernel']): void
  instantiate(plan: Plan<H, C>): Promise<H['executable']>
  release(executable: H['executable']): void
  run(executable: H['executable'], options: ExecutionOptions): Promise<ExecutionResult>
  write(region: AllocationRegion<H['allocation']>, bytes: Uint8Array<ArrayBuffer>): Promise<void>
  read(region: AllocationRegion<H['allocation']>, into: Uint8Array<ArrayBuffer>): Promise<void>
  live(): LiveHandles
  /**
   * Waits for work in flight, unless the devices are lost, frees the remaining resources and closes the
   * devices. Resolves with a sentence for each resource that could not be freed. Something else may still
   * write to the memory of `kept`, so that memory exists as long as its `arrayBuffer`.
   */
  dispose(kept?: ReadonlySet<H['hostAllocation']>): Promise<readonly string[]>
  /** Access for native code of a backend that wraps this one; absent if all work needs JavaScript. */
  readonly native?: NativeAccess<H> | undefined
  /**
   * Opens a queue for work on one device without a plan; any number of queues may be open on it. Absent if
   * the runtime does not support this, or runs over several processes.
   */
  openCommandQueue?(device: number, options: CommandQueueOptions): CommandQueue<H>
  /**
   * Stops waiting for work in flight that may never end. `lost` resolves, and `dispose` settles without
   * waiting for the devices, which are freed if they ever respond. A runtime with this method also supports
   * `ExecutionOptions.timeoutSeconds` for executables that are `stoppable`. Absent if the runtime cannot do
   * that.
   */
  readonly abandon?: (() => void) | undefined
}

/**
 * A runtime over several processes: it gets this rank's parts of each plan. `Ranks` documents its other
 * guarantees.
 */
export interface RankedRuntime<H extends Handles = Handles> extends Omit<Runtime<H, PlanPart>, 'ranks'> {
  readonly ranks: Ranks
}

/** The runtimes that `Backend.open` returns. */
export type OpenedRuntime<H extends Handles = Handles> = Runtime<H> | RankedRuntime<H>

/** Lets native code use a runtime's devices without JavaScript. */
export interface NativeAccess<H extends Handles = Handles> {
  /**
   * Resolves to a launcher that repeats `executable`: an external value that holds a `TandemLauncher`
   * (native/tandem_launcher.h), valid until the executable is released. `uniformBlock` replaces
   * `Plan.uniformBlock` for all later launches. Undefined if its runs need JavaScript.
   */
  launcher(executable: H['executable'], uniformBlock?: Uint8Array<ArrayBuffer>): Promise<unknown>
  /**
   * An external value that holds a `TandemDeviceMemory` (native/tandem_device_memory.h), valid until the
   * allocation is freed. Accesses through it are not ordered with other calls, so nothing else may use the
   * memory meanwhile. Undefined if the memory has no address that other libraries can use.
   */
  address(allocation: H['allocation']): Promise<unknown>
}

/** Options of `Backend.open`. */
export interface OpenOptions {
  readonly label?: string | undefined
}

/** Options of `Runtime.allocate`. */
export interface AllocationOptions {
  readonly label: string
  readonly zero: boolean
}

/** A region of an allocation for immediate transfers; dense on the host side, row after row. */
export interface AllocationRegion<A extends Allocation = Allocation> extends Extent {
  readonly allocation: A
}

/** Why devices are lost. */
export interface LostInfo {
  readonly reason: 'destroyed' | 'unknown'
  readonly message: string
}

/** Objects that the caller made and has not freed. All zero after a clean shutdown. */
export interface LiveHandles {
  readonly allocations: number
  readonly hostAllocations: number
  readonly kernels: number
  readonly executables: number
}
