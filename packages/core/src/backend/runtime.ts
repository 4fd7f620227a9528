import type { Extent, Plan, PlanCommand, PlanPart } from '../plan/plan.ts'
import type { Ranks } from '../ranks/ranks.ts'
import type { Adapter } from './adapter.ts'
import type { CommandQueue, CommandQueueOptions } from './command-queue.ts'
import type { ExecutionOptions, ExecutionResult } from './execution.ts'
import type { Allocation, Handles } from './handles.ts'
import type { KernelSource } from './kernel-source.ts'

/**
 * Open devices. `write`, `read` and `run` take effect in the order of the calls; each promise settles when
 * its work has completed. Errors are `GpuError`s. `H` names the backend's own handles, `C` what the commands
 * of its plans are.
 */
export interface Runtime<H extends Handles = Handles, C extends PlanPart = PlanCommand> {
  readonly devices: readonly Adapter[]
  /** Resolves when the devices are lost; never rejects. With reason `destroyed` after `dispose`. */
  readonly lost: Promise<LostInfo>
  /** Only a runtime over several processes has them: see `RankedRuntime`. */
  readonly ranks?: undefined
  canAccessPeer(reader: number, owner: number): boolean
  /**
   * `zero` false leaves the contents undefined. `byteLength` is any positive number; backends pad as they
   * must.
   */
  allocate(device: number, byteLength: number, options: AllocationOptions): Promise<H['allocation']>
  free(allocation: H['allocation']): void
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
   * Waits for work in flight, frees the remaining resources and closes the devices. Resolves with a sentence
   * for each resource that could not be freed. The memory of `kept`, which something else may still write to,
   * stays as long as its `arrayBuffer`.
   */
  dispose(kept?: ReadonlySet<H['hostAllocation']>): Promise<readonly string[]>
  /** Access for native code of a backend around this one; absent if all work needs JavaScript. */
  readonly native?: NativeAccess<H> | undefined
  /**
   * Opens a queue for work on one device without a plan; any number of queues may be open on it. Absent if
   * the runtime does not support this, or runs over several processes.
   */
  openCommandQueue?(device: number, options: CommandQueueOptions): CommandQueue<H>
  /**
   * The work in flight may never end, so stop waiting for it. `lost` resolves, and `dispose` settles without
   * the devices, which are freed if they ever return. A runtime with this method also supports
   * `ExecutionOptions.timeoutSeconds` for executables that are `stoppable`. Absent if the runtime cannot do
   * that.
   */
  readonly abandon?: (() => void) | undefined
}

/**
 * A runtime over several processes: it gets this rank's parts of each plan, and `Ranks` states what else it
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
   * What repeats `executable`: an external value that holds a `TandemLauncher` (native/tandem_launcher.h),
   * valid until the executable is released. `uniformBlock` replaces `Plan.uniformBlock` for the launches from
   * now on. Undefined where its runs need JavaScript.
   */
  launcher(executable: H['executable'], uniformBlock?: Uint8Array<ArrayBuffer>): Promise<unknown>
  /**
   * An external value that holds a `TandemDeviceMemory` (native/tandem_device_memory.h), valid until the
   * allocation is freed. What is read and written there is not ordered with other calls: nothing else may use
   * it meanwhile. Undefined where the memory has no address that other libraries may use.
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

/** Live objects that the caller made and has not freed. All zero after a clean shutdown. */
export interface LiveHandles {
  readonly allocations: number
  readonly hostAllocations: number
  readonly kernels: number
  readonly executables: number
}
