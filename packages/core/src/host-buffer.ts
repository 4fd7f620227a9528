import type { HostAllocation } from './backend.ts'
import { HostMemoryView } from './buffer-view.ts'
import { type ElementArray, type ElementType, elementArray } from './element-type.ts'
import type { Leak } from './group.ts'
import type { GroupState } from './group-state.ts'
import { blockRegion, contiguousRegion, reshapeRegion, sliceRegion } from './region.ts'
import { Resource } from './resource.ts'
import type { HostView } from './view.ts'

/**
 * Host memory that recorded uploads read and downloads write, page-locked where the backend can. Leave `array` alone while
 * a program that uses it runs.
 */
export interface HostBuffer<T extends ElementType = ElementType> {
  readonly type: T
  readonly length: number
  readonly byteLength: number
  /** Stable until `destroy`, which detaches it. */
  readonly array: ElementArray<T>
  readonly label: string
  readonly destroyed: boolean
  slice(offset: number, length: number): HostView<T>
  block(row: number, column: number, rows: number, columns: number): HostView<T>
  reshape(rows: number, columns: number, stride?: number): HostView<T>
  destroy(): void
  [Symbol.dispose](): void
}

export class OwnedHostBuffer<T extends ElementType = ElementType> extends Resource implements HostBuffer<T> {
  readonly group: GroupState
  readonly type: T
  readonly label: string
  readonly length: number
  readonly byteLength: number
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
    super(group.resources)
    this.group = group
    this.type = type
    this.label = label
    this.length = length
    this.allocation = allocation
    this.array = elementArray(type, length, allocation?.arrayBuffer ?? new ArrayBuffer(0))
    this.byteLength = this.array.byteLength
  }

  /** All of it, as a view. */
  view(): HostMemoryView<T> {
    return new HostMemoryView(this, contiguousRegion(this.length))
  }

  slice(offset: number, length: number): HostView<T> {
    const region = contiguousRegion(this.length)
    return new HostMemoryView(this, sliceRegion(region, offset, length, `host buffer "${this.label}"`))
  }

  block(row: number, column: number, rows: number, columns: number): HostView<T> {
    const region = contiguousRegion(this.length)
    return new HostMemoryView(
      this,
      blockRegion(region, row, column, rows, columns, `host buffer "${this.label}"`),
    )
  }

  reshape(rows: number, columns: number, stride?: number): HostView<T> {
    const region = contiguousRegion(this.length)
    return new HostMemoryView(
      this,
      reshapeRegion(region, rows, columns, stride, `host buffer "${this.label}"`),
    )
  }

  override leak(): Leak {
    return { kind: 'host-buffer', label: this.label, byteLength: this.byteLength }
  }

  protected override free(): void {
    if (this.allocation !== undefined && !this.group.runtimeEnded)
      this.group.runtime.freeHost(this.allocation)
  }
}
