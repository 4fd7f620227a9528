import type { ScalarKind, Type } from './ir.ts'

const scalarByteLength: Record<ScalarKind, number> = { bool: 4, i32: 4, u32: 4, f32: 4, f16: 2 }

/** The alignment of a type in bytes (WGSL, "Alignment and Size"). */
export function alignOf(type: Type): number {
  switch (type.kind) {
    case 'scalar':
    case 'atomic':
      return scalarByteLength[type.scalar]
    case 'vector':
      return scalarByteLength[type.scalar] * (type.size === 3 ? 4 : type.size)
    case 'matrix':
      return scalarByteLength[type.scalar] * (type.rows === 3 ? 4 : type.rows)
    case 'array':
      return alignOf(type.element)
    case 'struct':
      return type.align
    case 'pointer':
      throw new RangeError('a pointer has no alignment')
  }
}

/** The size of a type in bytes (WGSL, "Alignment and Size"); a runtime-sized array counts as no elements. */
export function sizeOf(type: Type): number {
  switch (type.kind) {
    case 'scalar':
    case 'atomic':
      return scalarByteLength[type.scalar]
    case 'vector':
      return scalarByteLength[type.scalar] * type.size
    case 'matrix':
      return alignOf(type) * type.columns
    case 'array':
      return type.stride * (type.length ?? 0)
    case 'struct':
      return type.size
    case 'pointer':
      throw new RangeError('a pointer has no size')
  }
}

/** Rounds `value` up to a multiple of `multiple`. */
export function roundUp(value: number, multiple: number): number {
  return Math.ceil(value / multiple) * multiple
}
