/** Scalar types a buffer can hold. `f16` is stored as raw 16-bit patterns on the host (Node 20 has no Float16Array). */
export type ElementType = 'f32' | 'i32' | 'u32' | 'f16'

export interface ElementArrays {
  f32: Float32Array<ArrayBuffer>
  i32: Int32Array<ArrayBuffer>
  u32: Uint32Array<ArrayBuffer>
  f16: Uint16Array<ArrayBuffer>
}

/** The typed array that holds elements of type `T` on the host. */
export type ElementArray<T extends ElementType = ElementType> = ElementArrays[T]

interface HostArrays {
  f32: Float32Array
  i32: Int32Array
  u32: Uint32Array
  f16: Uint16Array
}

/** The same over any memory of the caller's: shared with other threads, or resizable. */
export type HostArray<T extends ElementType = ElementType> = HostArrays[T]

export const elementByteLength: Readonly<Record<ElementType, number>> = { f32: 4, i32: 4, u32: 4, f16: 2 }

const constructors = { f32: Float32Array, i32: Int32Array, u32: Uint32Array, f16: Uint16Array } as const

/** A typed array of `length` elements over `buffer` (or over new, zeroed memory). */
export function elementArray<T extends ElementType>(
  type: T,
  length: number,
  buffer: ArrayBuffer = new ArrayBuffer(length * elementByteLength[type]),
  byteOffset = 0,
): ElementArray<T> {
  return new constructors[type](buffer, byteOffset, length) as ElementArray<T>
}
