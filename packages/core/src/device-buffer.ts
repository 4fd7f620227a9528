import type { Allocation } from './backend.ts'
import { DeviceMemoryView } from './buffer-view.ts'
import type { Device } from './device.ts'
import { type ElementType, elementByteLength } from './element-type.ts'
import type { Leak } from './group.ts'
import type { GroupState } from './group-state.ts'
import { blockRegion, reshapeRegion, sliceRegion } from './region.ts'
import { Resource } from './resource.ts'
import type { BufferView, Region } from './view.ts'

/** Memory of one device. Programs that use it keep the memory alive after `destroy`, until they are destroyed themselves. */
export interface DeviceBuffer<T extends ElementType = ElementType> extends BufferView<T> {
  readonly device: Device
  readonly type: T
  readonly byteLength: number
  readonly label: string
  readonly destroyed: boolean
  destroy(): void
  [Symbol.dispose](): void
}

/** How core makes device buffers: by `Device.allocate` (registered with the group) and `Recorder.scratch` (a program's). */
export class OwnedDeviceBuffer<T extends ElementType = ElementType>
  extends Resource
  implements DeviceBuffer<T>
{
  readonly group: GroupState
  readonly device: Device
  readonly type: T
  readonly label: string
  readonly elementByteLength: number
  readonly byteLength: number
  readonly offset = 0
  readonly rows: number
  readonly columns: number
  readonly stride: number
  readonly length: number
  /** True for what a recorder made: it belongs to that one program. */
  readonly isScratch: boolean
  /** Absent for length 0, and for scratch whose program is not prepared. */
  allocation: Allocation | undefined

  constructor(
    group: GroupState,
    device: Device,
    type: T,
    region: Region,
    label: string,
    allocation: Allocation | undefined,
    isScratch: boolean,
  ) {
    super(isScratch ? undefined : group.resources)
    this.group = group
    this.device = device
    this.type = type
    this.label = label
    this.elementByteLength = elementByteLength[type]
    this.byteLength = region.length * this.elementByteLength
    this.rows = region.rows
    this.columns = region.columns
    this.stride = region.stride
    this.length = region.length
    this.allocation = allocation
    this.isScratch = isScratch
  }

  get buffer(): this {
    return this
  }

  slice(offset: number, length: number): BufferView<T> {
    return new DeviceMemoryView(this, sliceRegion(this, offset, length, `buffer "${this.label}"`))
  }

  block(row: number, column: number, rows: number, columns: number): BufferView<T> {
    return new DeviceMemoryView(this, blockRegion(this, row, column, rows, columns, `buffer "${this.label}"`))
  }

  reshape(rows: number, columns: number, stride?: number): BufferView<T> {
    return new DeviceMemoryView(this, reshapeRegion(this, rows, columns, stride, `buffer "${this.label}"`))
  }

  override leak(): Leak {
    return { kind: 'buffer', label: this.label, byteLength: this.byteLength }
  }

  protected override free(): void {
    if (this.allocation !== undefined && !this.group.runtimeEnded) this.group.runtime.free(this.allocation)
    this.allocation = undefined
  }
}
