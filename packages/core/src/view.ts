import type { DeviceBuffer } from './device-buffer.ts'
import type { ElementType } from './element-type.ts'
import type { HostBuffer } from './host-buffer.ts'

/** Rows of elements inside a buffer; all numbers count elements. */
export interface Region {
  /** First element, from the buffer's start. */
  readonly offset: number
  /** 1 for one-dimensional views. */
  readonly rows: number
  readonly columns: number
  /** Elements from one row's start to the next (leading dimension); at least `columns`. */
  readonly stride: number
  /** Elements in the view: `rows * columns`. */
  readonly length: number
}

/** A part of device memory: what a command declares that it touches. A `DeviceBuffer` is itself the view of all of it. */
export interface BufferView<T extends ElementType = ElementType> extends Region {
  readonly buffer: DeviceBuffer<T>
  /** A one-dimensional part, relative to this view, which must be contiguous. `validation` where it does not fit. */
  slice(offset: number, length: number): BufferView<T>
  /** A two-dimensional block, relative to this view. `validation` where it does not fit. */
  block(row: number, column: number, rows: number, columns: number): BufferView<T>
  /** Other rows, columns and leading dimension (default `columns`) over this view's elements, which must be contiguous. */
  reshape(rows: number, columns: number, stride?: number): BufferView<T>
}

/** A part of host memory; the same shapes as `BufferView`. A `HostBuffer` stands for the view of all of it. */
export interface HostView<T extends ElementType = ElementType> extends Region {
  readonly host: HostBuffer<T>
  slice(offset: number, length: number): HostView<T>
  block(row: number, column: number, rows: number, columns: number): HostView<T>
  reshape(rows: number, columns: number, stride?: number): HostView<T>
}
