import type { HostAllocation } from '../backend/handles.ts'
import type { Device } from '../group/device.ts'
import type { GroupState } from '../group/group-state.ts'
import { type ElementArray, type ElementType, elementArray } from './element-type.ts'
import { OwnedBuffer } from './owned-buffer.ts'
import { shapeRegion, type View } from './view.ts'

/**
 * Host memory that recorded uploads read and downloads write, page-locked if the backend supports that. Do
 * not use `array` while a program that uses it runs. In a group over several processes, each has a copy:
 * recorded uploads read the copy of the device's process, recorded commands that write it update every copy,
 * and the host must write the same to all copies. With `allocateHost(type, length, { device })`, only the
 * process of that device has the memory.
 */
export interface HostBuffer<T extends ElementType = ElementType> extends View<HostBuffer<T>> {
  readonly type: T
  /** Bytes of its memory: those of the elements, for `u8` and `i8` rounded up to a multiple of 4. */
  readonly byteLength: number
  /** The device whose process has the memory; undefined if every process has a copy. */
  readonly device: Device | undefined
  /** Stable until `destroy`, which detaches it. Empty if another process has the memory. */
  readonly array: ElementArray<T>
  readonly label: string
  readonly destroyed: boolean
  destroy(): void
  [Symbol.dispose](): void
}

/** A part of host memory. */
export type HostView<T extends ElementType = ElementType> = View<HostBuffer<T>>

export class OwnedHostBuffer<T extends ElementType = ElementType>
  extends OwnedBuffer<T>
  implements HostBuffer<T>
{
  readonly device: Device | undefined
  readonly array: ElementArray<T>
  /** Absent for length 0, and for memory of another rank. */
  readonly allocation: HostAllocation | undefined

  constructor(
    group: GroupState,
    device: Device | undefined,
    type: T,
    length: number,
    label: string,
    allocation: HostAllocation | undefined,
  ) {
    const region = shapeRegion(length, `host buffer "${label}"`)
    super(group, group.resources, 'host-buffer', device?.rank, type, region, label)
    this.device = device
    this.allocation = allocation
    this.array =
      allocation === undefined ? elementArray(type, 0) : elementArray(type, length, allocation.arrayBuffer)
  }

  protected override free(): void {
    if (this.allocation !== undefined && !this.group.runtimeEnded)
      this.group.runtime.freeHost(this.allocation)
  }
}
