import type { Adapter, DeviceFeature, DeviceLimits, Telemetry } from '../backend/adapter.ts'
import type { ElementType } from '../buffers/element-type.ts'
import type { View } from '../buffers/view.ts'

/** One device of a group. */
export interface Device {
  /** Position in `DeviceGroup.devices`. */
  readonly ordinal: number
  /** The process that has the device; 0 in a group of one process. */
  readonly rank: number
  /** Whether this process has the device. */
  readonly local: boolean
  /** The adapter: names, driver, memory, identity. */
  readonly info: Adapter
  /** The limits that recording enforces: those of the adapter, or WebGPU's defaults with `portableLimits`. */
  readonly limits: DeviceLimits
  readonly features: ReadonlySet<DeviceFeature>
  /** Absent if the device has no sensors. */
  readonly telemetry?: () => Promise<Telemetry>
  /**
   * Memory on this device: a length, or [rows, columns] (row-major, contiguous). Zeroed unless `zero` is
   * false. Length 0 needs no memory. Rejects with `validation`, `too-large`, `out-of-memory` or
   * `device-lost`, in the same way on every rank.
   */
  allocate<T extends ElementType>(
    type: T,
    shape: number | readonly [rows: number, columns: number],
    options?: AllocateOptions,
  ): Promise<DeviceBuffer<T>>
}

/** Options of `Device.allocate` and `Recorder.scratch`. */
export interface AllocateOptions {
  /** Names the memory in errors, plans and reports of leaks. */
  readonly label?: string | undefined
  /** Whether the memory is zeroed: true by default for `allocate`, false for `scratch`. */
  readonly zero?: boolean | undefined
}

/**
 * Memory of one device. Programs that use it keep the memory alive after `destroy`, until they are destroyed
 * themselves.
 */
export interface DeviceBuffer<T extends ElementType = ElementType> extends View<DeviceBuffer<T>> {
  readonly device: Device
  readonly type: T
  /** Bytes of its memory: those of the elements, for `u8` and `i8` rounded up to a multiple of 4. */
  readonly byteLength: number
  readonly label: string
  /** True after `destroy`: no new command may use it. */
  readonly destroyed: boolean
  destroy(): void
  [Symbol.dispose](): void
}

/** A part of device memory. */
export type BufferView<T extends ElementType = ElementType> = View<DeviceBuffer<T>>
