import type { Adapter, AdapterReport, Topology } from './adapter.ts'
import type { CommandQueue, CommandQueueOptions } from './command-queue.ts'
import type { ExecutionOptions, ExecutionResult, RepeatedOptions } from './execution.ts'
import type { Allocation, Handles } from './handles.ts'
import type { KernelSource } from './kernel-source.ts'
import type { Extent, Plan, PlanPart } from './plan.ts'
import type { FreedMemory, Ranks } from './ranks.ts'

/**
 * The boundary between core and a backend. Core validates, records and derives order; a backend translates.
 * A backend may assume that every argument is valid: sizes are positive multiples of 2 bytes, regions lie inside
 * their buffers, nothing is destroyed while in use, and calls stop once the runtime is disposed or lost.
 */
export interface Backend {
  readonly name: string
  /**
   * Lists the adapters that can be opened here. A missing driver or library is no error: `absence` describes it. Rejects where the
   * backend's own files are missing.
   */
  adapters(): Promise<AdapterReport>
  /** One runtime over all `adapters`, in order: device ordinal i is `adapters[i]`. An adapter listed twice gives two virtual devices. */
  open(adapters: readonly Adapter[], options?: OpenOptions): Promise<Runtime>
  /**
   * As `open`, for a backend around this one: over `adapters` of several processes of one machine (`Adapter.rank` says whose; this process's own
   * are those that `adapters` found), whose memory each maps. The runtime gets whole plans (`Ranks.sharesMemory`), runs the commands of
   * this process's devices, and has no `ranks` of its own. Every process calls it; rejects on all of them, with `unsupported` and the
   * reason, where one pair of devices cannot. Absent where none ever can.
   */
  readonly openShared?:
    | ((adapters: readonly Adapter[], processes: SharingProcesses, options?: OpenOptions) => Promise<Runtime>)
    | undefined
  /**
   * As `openShared`, where the devices of the processes send each other messages instead: the runtime has this process's own of the `adapters`, in their
   * order, gets plans of `PlanPart`s, and carries the messages in them. The processes may be on several machines.
   */
  readonly openConnected?:
    | ((adapters: readonly Adapter[], processes: SharingProcesses, options?: OpenOptions) => Promise<Runtime>)
    | undefined
  /**
   * As `open`, for a backend around this one that hands addresses of device memory to an MPI (`Runtime.deviceMemory`): over `adapters` of
   * one GPU. Rejects with `unsupported` and the reason where that cannot be. Absent where it never can.
   */
  readonly openAddressable?:
    | ((adapters: readonly Adapter[], options?: OpenOptions) => Promise<Runtime>)
    | undefined
  /** Links between the adapters, where the backend knows them. */
  readonly topology?: (() => Promise<Topology>) | undefined
}

/** The processes of `Backend.openShared` and `Backend.openConnected`, which make the same calls of their runtimes in the same order. */
export interface SharingProcesses {
  readonly rank: number
  /** Gives every process what each says, by rank. All call it in the same order. Rejects with `device-lost` when one cannot. */
  exchange(message: string): Promise<readonly string[]>
  /** Resolves when another process has ended or cannot go on: what waits for its devices waits in vain. */
  readonly broken: Promise<unknown>
}

/** Options of `Backend.open`. */
export interface OpenOptions {
  readonly label?: string | undefined
}

/**
 * Open devices. `write`, `read` and `run` take effect in the order of the calls; each promise settles when its
 * work has completed. Errors are `GpuError`s. `H` names the backend's own handles.
 */
export interface Runtime<H extends Handles = Handles> {
  readonly devices: readonly Adapter[]
  /** Resolves when the devices are lost; never rejects. With reason `destroyed` after `dispose`. */
  readonly lost: Promise<LostInfo>
  /** Set by a runtime over several processes; `Ranks` states what else it guarantees. */
  readonly ranks?: Ranks
  canAccessPeer(reader: number, owner: number): boolean
  /** `zero` false leaves the contents undefined. `byteLength` is any positive number; backends pad as they must. */
  allocate(device: number, byteLength: number, options: AllocationOptions): Promise<H['allocation']>
  free(allocation: H['allocation']): void
  allocateHost(byteLength: number): H['hostAllocation']
  /** Detaches `arrayBuffer`. */
  freeHost(allocation: H['hostAllocation']): void
  /** For every device of the runtime. Rejects with `compilation` (line, column) or `unsupported`. */
  compile(source: KernelSource): Promise<H['kernel']>
  releaseKernel(kernel: H['kernel']): void
  /** A runtime of one process gets plans of `PlanCommand`s alone, and may say so: `instantiate(plan: Plan<H>)`. */
  instantiate(plan: Plan<H, PlanPart>): Promise<H['executable']>
  /**
   * Of a runtime that `openShared` or `openConnected` opens: agrees with the other processes what a run with these options needs of them, such as addresses of their
   * memory, and makes what it needs here. All processes call it before each run, in the same order and with the same options; it rejects alike on all, and nothing has begun then.
   * Resolves to whether this process has a part in the plan: else it need not run it. When `run` rejects with `device-lost`, the processes may have done unequally much.
   */
  connect?(
    executable: H['executable'],
    options: Pick<ExecutionOptions, 'times' | 'profile'>,
  ): Promise<boolean>
  /** Of a runtime that `openShared` opens: as `Ranks.freedMemory`. */
  readonly freedMemory?: FreedMemory
  release(executable: H['executable']): void
  /**
   * Over several processes: a run of it has been ended at its limit on one of them, as all know by now, and each calls this. They may have done unequally
   * much of it.
   */
  interrupted?(executable: H['executable']): void
  run(executable: H['executable'], options: ExecutionOptions): Promise<ExecutionResult>
  /**
   * For a backend around this one, which repeats `executable` from native code: an external value that holds a `TandemLauncher`
   * (native/tandem_launcher.h), valid until the executable is released. `uniformBlock` replaces `Plan.uniformBlock` for the launches from now
   * on. Resolves to undefined where each run of this executable needs JavaScript; absent where all do.
   */
  launcher?(executable: H['executable'], uniformBlock?: Uint8Array<ArrayBuffer>): Promise<unknown>
  /**
   * Of a runtime that `openShared` or `openConnected` opens: what starts a run from native code that is like the last of this executable, in place of `connect` and `run`. Undefined where
   * it would differ, or needs JavaScript.
   */
  repeated?(executable: H['executable'], options: RepeatedOptions): RepeatedRun | undefined
  /**
   * Of a runtime that `openAddressable` opens: an external value that holds a `TandemDeviceMemory` (native/tandem_device_memory.h), valid
   * until the allocation is freed. What is read and written there is not ordered with other calls: nothing else may use it meanwhile.
   */
  deviceMemory?(allocation: H['allocation']): Promise<unknown>
  /** Work on one device without a plan; any number of queues may be open on it. Absent where a runtime has none, or runs over several processes. */
  openCommandQueue?(device: number, options: CommandQueueOptions): CommandQueue<H>
  write(region: AllocationRegion<H['allocation']>, bytes: Uint8Array<ArrayBuffer>): Promise<void>
  read(region: AllocationRegion<H['allocation']>, into: Uint8Array<ArrayBuffer>): Promise<void>
  live(): LiveHandles
  /**
   * The work in flight may never end: from now on nobody waits for it. `lost` resolves, and `dispose` settles without the devices, which are
   * freed should they ever come back. Absent where a runtime cannot do that.
   */
  readonly abandon?: () => void
  /** Whether it takes `ExecutionOptions.timeoutSeconds` for executables that are `stoppable`, where it has no `abandon` or is over several processes. */
  readonly limitsTime?: boolean
  /**
   * Waits for work in flight, frees what is left, closes the devices. Resolves with a sentence for each thing that could not be freed. The memory of `kept`, which something else
   * may still write to, stays as long as its `arrayBuffer`.
   */
  dispose(kept?: ReadonlySet<H['hostAllocation']>): Promise<readonly string[]>
}

/** A run that native code starts, once. */
export interface RepeatedRun {
  /** An external value that holds a `TandemLauncher`, whose `seconds` are the run's. */
  readonly launcher: unknown
  /** What `run` would reject with, from the `nativeCode` and `result` of the launcher's error. To be called when the run fails. */
  readonly failed: (error: Error) => unknown
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
