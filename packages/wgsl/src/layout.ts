import type { ScalarKind, SubgroupMatrixComponent, Type } from './ir.ts'

/** The byte length of a scalar, or of a component of a subgroup matrix. */
export const scalarByteLength: Readonly<Record<ScalarKind | SubgroupMatrixComponent, number>> = {
  bool: 4,
  i32: 4,
  u32: 4,
  f32: 4,
  f16: 2,
  i8: 1,
  u8: 1,
}

/**
 * The alignment of a type in bytes (WGSL, "Alignment and Size"); that of a buffer suits the widest vector.
 */
export function alignOf(type: Type): number {
  switch (type.kind) {
    case 'scalar':
      return scalarByteLength[type.scalar]
    case 'atomic':
      return type.wide ? 8 : 4
    case 'vector':
      return scalarByteLength[type.scalar] * (type.size === 3 ? 4 : type.size)
    case 'matrix':
      return scalarByteLength[type.scalar] * (type.rows === 3 ? 4 : type.rows)
    case 'array':
      return alignOf(type.element)
    case 'struct':
      return type.align
    case 'buffer':
      return 16
    case 'subgroup-matrix':
      return 4
    case 'pointer':
      throw new RangeError('a pointer has no alignment')
  }
}

/**
 * The size of a type in bytes (WGSL, "Alignment and Size"); a runtime-sized array or buffer counts as empty.
 */
export function sizeOf(type: Type): number {
  switch (type.kind) {
    case 'scalar':
      return scalarByteLength[type.scalar]
    case 'atomic':
      return type.wide ? 8 : 4
    case 'vector':
      return scalarByteLength[type.scalar] * type.size
    case 'matrix':
      return alignOf(type) * type.columns
    case 'array':
      return type.stride * (type.length ?? 0)
    case 'struct':
      return type.size
    // With f16 the length may be half a word more.
    case 'buffer':
      return roundUp(type.length ?? 0, 4)
    // A nominal size per invocation; the type has no layout that a program can observe.
    case 'subgroup-matrix':
      return 4
    case 'pointer':
      throw new RangeError('a pointer has no size')
  }
}

/** The bytes from one element of an array, column of a matrix or component of a vector to the next. */
export function strideOf(type: Type): number {
  if (type.kind === 'array') return type.stride
  if (type.kind === 'matrix') return alignOf(type)
  if (type.kind === 'vector') return scalarByteLength[type.scalar]
  throw new RangeError(`${type.kind} has no elements`)
}

/** The offset and stride of the runtime-sized array in a type; undefined if there is none. */
export function runtimeArrayOf(type: Type): { offset: number; stride: number } | undefined {
  if (type.kind === 'array' && type.length === undefined) return { offset: 0, stride: type.stride }
  const last = type.kind === 'struct' ? type.members.at(-1) : undefined
  const inside = last && runtimeArrayOf(last.type)
  return inside && { offset: last.offset + inside.offset, stride: inside.stride }
}

/** The minimum byte length of a view of a type; it includes the first element of a runtime-sized array. */
export function leastViewSize(type: Type): number {
  const array = runtimeArrayOf(type)
  return array === undefined ? sizeOf(type) : array.offset + array.stride
}

/** Rounds `value` up to a multiple of `multiple`. */
export function roundUp(value: number, multiple: number): number {
  return Math.ceil(value / multiple) * multiple
}
