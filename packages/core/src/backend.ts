import type { IrModule, Reflection } from '@tandem-gpu/wgsl'
import type { Adapter, AdapterReport } from './adapter.ts'
import type { ByteRegion, Plan } from './plan.ts'

/**
 * The boundary between core and a backend. Core validates, records and derives order; a backend translates.
 * A backend may assume that every argument is valid: sizes are positive multiples of 2 bytes, regions lie inside
 * their buffers, nothing is destroyed while in use, and calls stop once the runtime is disposed or lost.
 */
export interface Backend {
  readonly name: string
  /** What could be opened here. Never throws for a missing driver or library: `absence` says why. */
  adapters(): Promise<AdapterReport>
  /** One runtime over all `adapters`, in order: device ordinal i is `adapters[i]`. An adapter listed twice gives two virtual devices. */
  open(adapters: readonly Adapter[], options?: OpenOptions): Promise<Runtime>
  /** Links between the adapters, where the backend knows them. */
  readonly topology?: () => Promise<Topology>
}

export interface OpenOptions {
  readonly label?: string
}

export interface Topology {
  readonly adapters: readonly Adapter[]
  /** `links[i][j]`: how i reaches j; the diagonal is `self`. */
  readonly links: readonly (readonly TopologyLink[])[]
}

export interface TopologyLink {
  readonly kind: 'self' | 'nvlink' | 'pcie' | 'system' | 'unknown'
  /** NVLink count between the pair. */
  readonly linkCount?: number
  readonly peerAccess: boolean
}

/** Device memory that a runtime owns; opaque to core. */
export interface Allocation {
  readonly device: number
  readonly byteLength: number
}

/** Host memory that uploads and downloads use directly: page-locked where the backend can. */
export interface HostAllocation {
  readonly arrayBuffer: ArrayBuffer
}

export interface KernelHandle {
  readonly label: string
}

/** A plan made ready to run. */
export interface Executable {
  readonly label: string
}

export type Bounds = 'clamp' | 'trap' | 'unchecked'

export interface KernelSource {
  readonly label: string
  readonly wgsl: string
  readonly entryPoint: string
  readonly constants: Readonly<Record<string, number | boolean>>
  readonly bounds: Bounds
  readonly module: IrModule
  readonly reflection: Reflection
}

/** When a command ran, on one clock for all devices of the group; seconds from the start of the run. */
export interface Span {
  readonly command: number
  readonly repetition: number
  readonly device: number
  readonly startSeconds: number
  readonly endSeconds: number
}

export interface ExecutionOptions {
  /** At least 1. */
  readonly times: number
  /** Checked between launches; an abort rejects with `aborted` after the work in flight has completed. */
  readonly signal?: AbortSignal
  /** One span per command (where the device has timestamps for it) of the last repetition. */
  readonly profile?: boolean
  /** Replaces `Plan.uniformBlock` for this run; same length. */
  readonly uniformBlock?: Uint8Array<ArrayBuffer>
}

export interface ExecutionResult {
  /** From the first launch to completion, by the device clock where there is one, else by the host's. */
  readonly seconds: number
  readonly clock: 'device' | 'host'
  readonly spans?: readonly Span[]
}

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

/** A region of an allocation for immediate transfers; dense on the host side, row after row. */
export interface AllocationRegion extends Omit<ByteRegion, 'buffer'> {
  readonly allocation: Allocation
}

/**
 * Open devices. `write`, `read` and `run` take effect in the order of the calls; each promise settles when its
 * work has completed. Errors are `GpuError`s.
 */
export interface Runtime {
  readonly devices: readonly Adapter[]
  /** Resolves when the devices are lost; never rejects. With reason `destroyed` after `dispose`. */
  readonly lost: Promise<LostInfo>
  canAccessPeer(reader: number, owner: number): boolean
  /** `zero` false leaves the contents undefined. `byteLength` is any positive number; backends pad as they must. */
  allocate(device: number, byteLength: number, options: { label: string; zero: boolean }): Promise<Allocation>
  free(allocation: Allocation): void
  allocateHost(byteLength: number): HostAllocation
  /** Detaches `arrayBuffer`. */
  freeHost(allocation: HostAllocation): void
  /** For every device of the runtime. Rejects with `compilation` (line, column) or `unsupported`. */
  compile(source: KernelSource): Promise<KernelHandle>
  releaseKernel(kernel: KernelHandle): void
  instantiate(plan: Plan): Promise<Executable>
  release(executable: Executable): void
  run(executable: Executable, options: ExecutionOptions): Promise<ExecutionResult>
  write(region: AllocationRegion, bytes: Uint8Array<ArrayBuffer>): Promise<void>
  read(region: AllocationRegion, into: Uint8Array<ArrayBuffer>): Promise<void>
  live(): LiveHandles
  /** Waits for work in flight, frees what is left, closes the devices. */
  dispose(): Promise<void>
}
