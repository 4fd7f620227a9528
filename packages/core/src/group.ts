import type { Adapter } from './adapter.ts'
import type { Backend, LiveHandles, LostInfo } from './backend.ts'
import type { Device } from './device.ts'
import type { ElementType } from './element-type.ts'
import { GpuError } from './errors.ts'
import type { HostBuffer } from './host-buffer.ts'
import type { CompileOptions, Kernel } from './kernel.ts'
import type { Schedule } from './plan.ts'
import type { Program } from './program.ts'
import type { Queue } from './queue.ts'
import type { Recorder } from './recorder.ts'
import type { SelectBy, Selection } from './selection.ts'

export interface OpenGroupOptions {
  /** In order of preference. The first with hardware adapters wins; software only where no backend has hardware. */
  readonly backends: readonly Backend[]
  /**
   * Default: every adapter of the chosen backend (one on software). More than there are adapters gives virtual devices:
   * freely on a software adapter, only with `virtual: true` on hardware. Too few: `no-device`.
   */
  readonly devices?: number
  readonly virtual?: boolean
  /** How to choose where there are more adapters than `devices`: least loaded first. Default `index`. */
  readonly by?: SelectBy
  /** Keeps only the adapters for which this is true. */
  readonly adapters?: (adapter: Adapter) => boolean
  /** Holds every device to WebGPU's default limits, so that what passes here runs anywhere. */
  readonly portableLimits?: boolean
  readonly label?: string
}

export interface RecordOptions {
  /** Default `overlapped`. */
  readonly schedule?: Schedule
  readonly label?: string
}

/** Devices that are programmed together. */
export interface DeviceGroup {
  readonly label: string
  /** Name of the backend. */
  readonly backend: string
  readonly software: boolean
  readonly devices: readonly Device[]
  readonly selection: Selection
  readonly queue: Queue
  /** Resolves when the devices are lost; everything pending and after rejects with `device-lost`. */
  readonly lost: Promise<LostInfo>
  /** May a kernel on `reader` read and write memory of `owner`? True for the same device. */
  canAccessPeer(reader: Device | number, owner: Device | number): boolean
  /** Cached by source, entry point, constants and bounds. Rejects with `compilation`, `too-large` or `unsupported`. */
  compile(options: CompileOptions): Promise<Kernel>
  /** Synchronous; throws `validation` and `too-large` for what could not run. */
  record(body: (recorder: Recorder) => void, options?: RecordOptions): Program
  allocateHost<T extends ElementType>(
    type: T,
    length: number,
    options?: { readonly label?: string },
  ): HostBuffer<T>
  /** Live objects of the backend. */
  live(): LiveHandles
  /** Waits for pending work, then frees everything. The report names what the caller never destroyed. */
  destroy(): Promise<LeakReport>
  [Symbol.asyncDispose](): Promise<void>
}

export interface Leak {
  readonly kind: 'buffer' | 'host-buffer' | 'kernel' | 'program'
  readonly label: string
  readonly byteLength?: number
}

export interface LeakReport {
  readonly leaks: readonly Leak[]
}

/** Opens devices. Rejects with `no-device` where too few fit, naming what was found. */
export async function openGroup(options: OpenGroupOptions): Promise<DeviceGroup> {
  throw new GpuError('unsupported', `Opening ${options.devices} devices is being written.`)
}
