import type { ElementArray, ElementType } from './element-type.ts'
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
