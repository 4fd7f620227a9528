import { describedValue } from '../described-value.ts'
import { invalid } from '../errors.ts'
import { wholeWords } from '../whole-words.ts'

/**
 * Scalar types of buffers. `f16` is stored as raw 16-bit patterns on the host (Node 20 has no Float16Array).
 * WGSL has no 8-bit types: kernels bind `u8` and `i8` as `array<u32>`, four elements per word, the first in
 * the lowest byte.
 */
export type ElementType = 'f32' | 'i32' | 'u32' | 'f16' | 'u8' | 'i8'

/** The typed array for each type of element. */
export interface ElementArrays<Memory extends ArrayBufferLike = ArrayBuffer> {
  f32: Float32Array<Memory>
  i32: Int32Array<Memory>
  u32: Uint32Array<Memory>
  f16: Uint16Array<Memory>
  u8: Uint8Array<Memory>
  i8: Int8Array<Memory>
}

/** The typed array that holds elements of type `T` on the host. */
export type ElementArray<T extends ElementType = ElementType> = ElementArrays[T]

/** The same over any memory of the caller, which may be shared with other threads or resizable. */
export type HostArray<T extends ElementType = ElementType> = ElementArrays<ArrayBufferLike>[T]

/** Bytes of one element, by its type. */
export const elementByteLength: Readonly<Record<ElementType, 1 | 2 | 4>> = {
  f32: 4,
  i32: 4,
  u32: 4,
  f16: 2,
  u8: 1,
  i8: 1,
}

/**
 * Bytes of memory that a buffer of `length` elements needs: whole words for u8 and i8, because kernels bind
 * them as words.
 */
export function bufferByteLength(type: ElementType, length: number): number {
  const size = elementByteLength[type]
  return size === 1 ? wholeWords(length) : length * size
}

const constructors = {
  f32: Float32Array,
  i32: Int32Array,
  u32: Uint32Array,
  f16: Uint16Array,
  u8: Uint8Array,
  i8: Int8Array,
} as const

/** Throws `validation` unless `type` is an `ElementType`; `what` names its owner in the message. */
export function requireElementType(type: ElementType, what: string): void {
  if (typeof type === 'string' && Object.hasOwn(elementByteLength, type)) return
  throw invalid(
    `${what} has type ${typeof type === 'string' ? type : describedValue(type)}; the types are f32, i32, u32, f16, u8 and i8.`,
  )
}

/** A typed array of `length` elements over `buffer` (or over new, zeroed memory). */
export function elementArray<T extends ElementType>(
  type: T,
  length: number,
  buffer?: ArrayBuffer,
  byteOffset = 0,
): ElementArray<T> {
  requireElementType(type, 'An array of elements')
  try {
    const memory = buffer ?? new ArrayBuffer(length * elementByteLength[type])
    return new constructors[type](memory, byteOffset, length) as ElementArray<T>
  } catch (cause) {
    // The length or offset does not fit in the memory.
    throw invalid(
      `An array of ${describedValue(length)} ${type} cannot be made: ${(cause as Error).message}.`,
      {
        cause,
      },
    )
  }
}
