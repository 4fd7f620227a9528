import type { OwnedDeviceBuffer } from './device-buffer.ts'
import type { ElementType } from './element-type.ts'
import type { OwnedHostBuffer } from './host-buffer.ts'
import { blockRegion, reshapeRegion, sliceRegion } from './region.ts'
import type { BufferView, HostView, Region } from './view.ts'

/** A region of a device buffer. */
export class DeviceMemoryView<T extends ElementType> implements BufferView<T> {
  readonly buffer: OwnedDeviceBuffer<T>
  readonly offset: number
  readonly rows: number
  readonly columns: number
  readonly stride: number
  readonly length: number

  constructor(buffer: OwnedDeviceBuffer<T>, region: Region) {
    this.buffer = buffer
    this.offset = region.offset
    this.rows = region.rows
    this.columns = region.columns
    this.stride = region.stride
    this.length = region.length
  }

  slice(offset: number, length: number): BufferView<T> {
    return new DeviceMemoryView(this.buffer, sliceRegion(this, offset, length, this.#name()))
  }

  block(row: number, column: number, rows: number, columns: number): BufferView<T> {
    return new DeviceMemoryView(this.buffer, blockRegion(this, row, column, rows, columns, this.#name()))
  }

  reshape(rows: number, columns: number, stride?: number): BufferView<T> {
    return new DeviceMemoryView(this.buffer, reshapeRegion(this, rows, columns, stride, this.#name()))
  }

  #name(): string {
    return `a view of buffer "${this.buffer.label}"`
  }
}

/** A region of a host buffer. */
export class HostMemoryView<T extends ElementType> implements HostView<T> {
  readonly host: OwnedHostBuffer<T>
  readonly offset: number
  readonly rows: number
  readonly columns: number
  readonly stride: number
  readonly length: number

  constructor(host: OwnedHostBuffer<T>, region: Region) {
    this.host = host
    this.offset = region.offset
    this.rows = region.rows
    this.columns = region.columns
    this.stride = region.stride
    this.length = region.length
  }

  slice(offset: number, length: number): HostView<T> {
    return new HostMemoryView(this.host, sliceRegion(this, offset, length, this.#name()))
  }

  block(row: number, column: number, rows: number, columns: number): HostView<T> {
    return new HostMemoryView(this.host, blockRegion(this, row, column, rows, columns, this.#name()))
  }

  reshape(rows: number, columns: number, stride?: number): HostView<T> {
    return new HostMemoryView(this.host, reshapeRegion(this, rows, columns, stride, this.#name()))
  }

  #name(): string {
    return `a view of host buffer "${this.host.label}"`
  }
}
