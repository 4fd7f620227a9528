import type { SubgroupMatrixConfig } from '@tandem-gpu/wgsl'
import type { GpuErrorCode } from '../errors.ts'

/** The limits of one device, with the names and the meaning that WebGPU gives them. Sizes are in bytes. */
export interface DeviceLimits {
  maxBufferByteLength: number
  maxStorageBindingByteLength: number
  maxStorageBuffersPerDispatch: number
  maxUniformBindingByteLength: number
  /** Alignment of binding offsets, in bytes (256 everywhere, so that recorded programs are portable). */
  bindingOffsetAlignment: number
  maxWorkgroupsPerDimension: number
  maxWorkgroupInvocations: number
  maxWorkgroupSize: readonly [x: number, y: number, z: number]
  maxWorkgroupMemoryByteLength: number
}

/**
 * WebGPU's default limits, which every conforming device supports. `openGroup({ portableLimits: true })`
 * enforces them on every device.
 */
export const portableLimits: DeviceLimits = {
  maxBufferByteLength: 268_435_456,
  maxStorageBindingByteLength: 134_217_728,
  maxStorageBuffersPerDispatch: 8,
  maxUniformBindingByteLength: 65_536,
  bindingOffsetAlignment: 256,
  maxWorkgroupsPerDimension: 65_535,
  maxWorkgroupInvocations: 256,
  maxWorkgroupSize: [256, 256, 64],
  maxWorkgroupMemoryByteLength: 16_384,
}

/**
 * Optional features of a device: WGSL's `enable f16` and `enable subgroups`, Dawn's subgroup matrices, times
 * of single commands, and `bounds: 'trap'`.
 */
export type DeviceFeature =
  | 'shader-f16'
  | 'subgroups'
  | 'chromium-experimental-subgroup-matrix'
  | 'timestamps'
  | 'trap'

/** One reading of a device's sensors. A value the device does not report is absent, never zero. */
export interface Telemetry {
  /** Fractions 0–1 of the last sample period. */
  computeUtilization?: number
  memoryUtilization?: number
  memoryTotalByteLength?: number
  memoryFreeByteLength?: number
  memoryUsedByteLength?: number
  powerWatts?: number
  powerLimitWatts?: number
  temperatureCelsius?: number
  /** 0 to 100. */
  fanPercent?: number
  processes?: readonly { pid: number; memoryByteLength?: number; name?: string }[]
}

/** A device that a backend found and could open. */
export interface Adapter {
  readonly backend: string
  /** Stable within the process; opening the same adapter N times gives N virtual devices. */
  readonly id: string
  /** The name of the device, as users know it. */
  readonly name: string
  readonly vendor: string
  readonly architecture?: string
  readonly driver?: string
  /** True if the "GPU" is the CPU. */
  readonly software: boolean
  readonly memoryByteLength?: number
  /** The process that has the adapter, in a backend over several processes; absent in others. */
  readonly rank?: number
  /** `0000:1b:00.0`, lower case. */
  readonly pciBusId?: string
  /** As the driver reports it; the same in every process. */
  readonly uuid?: string
  /** The index of the device in the backend's own API (CUDA ordinal); the NVML index may differ. */
  readonly index?: number
  readonly nvmlIndex?: number
  readonly limits: DeviceLimits
  readonly features: ReadonlySet<DeviceFeature>
  readonly subgroupMinSize?: number
  readonly subgroupMaxSize?: number
  /** The products of subgroup matrices that the device supports; absent if there are none. */
  readonly subgroupMatrixConfigs?: readonly SubgroupMatrixConfig[]
  /** Absent if the device has no sensors that the backend can read. */
  readonly telemetry?: () => Promise<Telemetry>
}

/** Why a backend has no adapters: a value, not an exception. */
export interface Absence {
  readonly code: GpuErrorCode
  /** One sentence: what is missing. */
  readonly reason: string
  /** One sentence: what to install or change. */
  readonly remedy?: string
  /** Set if a part of the backend is missing: its npm package, or its addon, which was not built. */
  readonly missing?: 'package' | 'addon'
}

/** The adapters that a backend found. */
export interface AdapterReport {
  readonly adapters: readonly Adapter[]
  /** Set exactly when `adapters` is empty. */
  readonly absence?: Absence
  /** A sentence for each limitation, for instance if NVML is missing. */
  readonly notes?: readonly string[]
}

/** How the adapters of a backend are connected. */
export interface Topology {
  readonly adapters: readonly Adapter[]
  /** `links[i][j]`: the path from i to j; the diagonal is `self`. */
  readonly links: readonly (readonly TopologyLink[])[]
}

/** The connection from one adapter to another. */
export interface TopologyLink {
  /**
   * The fastest path: NVLink, PCIe within one NUMA node (`pcie`), or from one NUMA node to another
   * (`system`).
   */
  readonly kind: 'self' | 'nvlink' | 'pcie' | 'system' | 'unknown'
  /** NVLink count between the pair. */
  readonly linkCount?: number
  /** Whether a kernel of the first may access memory of the second. */
  readonly peerAccess: boolean
}
