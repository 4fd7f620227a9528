import type { OwnedDeviceBuffer } from './device-buffer.ts'
import type { ElementType } from './element-type.ts'
import type { OwnedHostBuffer } from './host-buffer.ts'
import { blockRegion, reshapeRegion, sliceRegion } from './region.ts'
import type { BufferView, HostView, Region } from './view.ts'

/** A region of some memory; `V` is what the regions in it are. */
abstract class RegionView<V> implements Region {
  readonly offset: number
  readonly rows: number
  readonly columns: number
  readonly stride: number
  readonly length: number

  constructor({ offset, rows, columns, stride, length }: Region) {
    this.offset = offset
    this.rows = rows
    this.columns = columns
    this.stride = stride
    this.length = length
  }

  slice(offset: number, length: number): V {
    return this.view(sliceRegion(this, offset, length, this.name()))
  }

  block(row: number, column: number, rows: number, columns: number): V {
    return this.view(blockRegion(this, row, column, rows, columns, this.name()))
  }

  reshape(rows: number, columns: number, stride?: number): V {
    return this.view(reshapeRegion(this, rows, columns, stride, this.name()))
  }

  /** Another region of the same memory. */
  protected abstract view(region: Region): V
  /** What messages call it. */
  protected abstract name(): string
}

/** A region of a device buffer. */
export class DeviceMemoryView<T extends ElementType>
  extends RegionView<BufferView<T>>
  implements BufferView<T>
{
  readonly buffer: OwnedDeviceBuffer<T>

  constructor(buffer: OwnedDeviceBuffer<T>, region: Region) {
    super(region)
    this.buffer = buffer
  }

  protected view(region: Region): BufferView<T> {
    return new DeviceMemoryView(this.buffer, region)
  }

  protected name(): string {
    return `a view of buffer "${this.buffer.label}"`
  }
}

/** A region of a host buffer. */
export class HostMemoryView<T extends ElementType> extends RegionView<HostView<T>> implements HostView<T> {
  readonly host: OwnedHostBuffer<T>

  constructor(host: OwnedHostBuffer<T>, region: Region) {
    super(region)
    this.host = host
  }

  protected view(region: Region): HostView<T> {
    return new HostMemoryView(this.host, region)
  }

  protected name(): string {
    return `a view of host buffer "${this.host.label}"`
  }
}
