import {
  type Adapter,
  type DeviceFeature,
  type DeviceLimits,
  portableLimits,
  type Telemetry,
} from '../backend/adapter.ts'
import { OwnedDeviceBuffer } from '../buffers/device-buffer.ts'
import { bufferByteLength, type ElementType, requireElementType } from '../buffers/element-type.ts'
import { shapeRegion } from '../buffers/view.ts'
import { describedValue } from '../described-value.ts'
import { GpuError, invalid } from '../errors.ts'
import { requireOptions } from '../options.ts'
import type { AllocateOptions, Device } from './device.ts'
import { type GroupState, memoryAgreements } from './group-state.ts'

export const allocateOptions = { label: 'string', zero: 'boolean' } as const

/** A device as core implements it. */
export class GroupDevice implements Device {
  readonly ordinal: number
  readonly rank: number
  readonly local: boolean
  readonly info: Adapter
  readonly limits: DeviceLimits
  readonly features: ReadonlySet<DeviceFeature>
  readonly telemetry?: () => Promise<Telemetry>
  /** The internal state of its group. */
  readonly state: GroupState
  #allocated = 0

  constructor(group: GroupState, ordinal: number, info: Adapter, portable: boolean) {
    this.state = group
    this.ordinal = ordinal
    this.rank = info.rank ?? 0
    this.local = this.rank === group.rank
    this.info = info
    this.limits = portable ? portableLimits : info.limits
    this.features = info.features
    if (info.telemetry !== undefined) this.telemetry = info.telemetry
  }

  async allocate<T extends ElementType>(
    type: T,
    shape: number | readonly [rows: number, columns: number],
    options: AllocateOptions = {},
  ): Promise<OwnedDeviceBuffer<T>> {
    requireOptions(options, 'allocate', allocateOptions)
    const { label = `buffer ${this.#allocated} of device ${this.ordinal}`, zero = true } = options
    this.state.requireAlive()
    const region = shapeRegion(shape, `buffer "${label}"`)
    this.requireBufferSize(type, region.length, label)
    this.#allocated++
    const byteLength = bufferByteLength(type, region.length)
    const { runtime, calls } = this.state
    const call = calls?.number(
      `allocates ${region.rows} x ${region.columns} ${type} on device ${this.ordinal} for "${label}"${zero ? '' : ', not zeroed'}`,
      byteLength === 0 ? 0 : memoryAgreements,
    )
    const allocation =
      byteLength === 0
        ? undefined
        : await this.state.settleWithMemory(call, async () =>
            this.local ? runtime.allocate(this.ordinal, byteLength, { label, zero }) : undefined,
          )
    return new OwnedDeviceBuffer(this.state, this, type, region, label, allocation, false)
  }

  /** Throws `validation` for an unknown type and `too-large` beyond the device's limit. */
  requireBufferSize(type: ElementType, length: number, label: string): void {
    requireElementType(type, `Buffer "${label}"`)
    const byteLength = bufferByteLength(type, length)
    if (byteLength > this.limits.maxBufferByteLength)
      throw new GpuError(
        'too-large',
        `Buffer "${label}" needs ${byteLength} bytes; device ${this.ordinal} (${this.info.name}) allows at most ${this.limits.maxBufferByteLength} in one buffer.`,
      )
  }
}

/**
 * The device of a group, given the device itself or its ordinal. Throws `validation` for a device of another
 * group.
 */
export function deviceOf(devices: readonly GroupDevice[], of: Device | number): GroupDevice {
  if (typeof of !== 'number' && !(of instanceof GroupDevice))
    throw invalid(`A device is ${describedValue(of)}; it must be a device of the group or its ordinal.`)
  const device = devices[typeof of === 'number' ? of : of.ordinal]
  if (device === undefined || (typeof of !== 'number' && device !== of)) {
    const asked = typeof of === 'number' ? `Device ${of}` : `Device ${of.ordinal} of another group`
    throw invalid(`${asked} is not in the group, which has ${devices.length} devices.`)
  }
  return device
}
