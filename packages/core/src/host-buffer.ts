import { type ElementArray, type ElementType, elementArray } from './element-type.ts'
import type { GroupState } from './group-state.ts'
import type { HostAllocation } from './handles.ts'
import { OwnedBuffer } from './owned-buffer.ts'
import type { Leak } from './resource.ts'
import { shapeRegion, type View } from './view.ts'

/**
 * Host memory that recorded uploads read and downloads write, page-locked where the backend can. Leave `array` alone while
 * a program that uses it runs.
 */
export interface HostBuffer<T extends ElementType = ElementType> extends View<HostBuffer<T>> {
  readonly type: T
  readonly byteLength: number
  /** Stable until `destroy`, which detaches it. */
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
  readonly array: ElementArray<T>
  /** Absent for length 0. */
  readonly allocation: HostAllocation | undefined

  constructor(
    group: GroupState,
    type: T,
    length: number,
    label: string,
    allocation: HostAllocation | undefined,
  ) {
    const name = `host buffer "${label}"`
    super(group, group.resources, type, shapeRegion(length, name), label, name)
    this.allocation = allocation
    this.array = elementArray(type, length, allocation?.arrayBuffer ?? new ArrayBuffer(0))
  }

  override leak(): Leak {
    return { kind: 'host-buffer', label: this.label, byteLength: this.byteLength }
  }

  protected override free(): void {
    if (this.allocation !== undefined && !this.group.runtimeEnded)
      this.group.runtime.freeHost(this.allocation)
  }
}
