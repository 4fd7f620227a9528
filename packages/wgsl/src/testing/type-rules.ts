import type { ScalarKind, Type } from '../ir.ts'
import { i32Type, scalarType, u32Type, vectorType } from '../types.ts'

/** Whether a value of the type can be an index. */
export function isIndexType(type: Type | undefined): boolean {
  return type === i32Type || type === u32Type
}

/** Whether the access names a member of the structure type `base` and has that member's type. */
export function isMemberOf(
  base: Type | undefined,
  { member, type }: { member: { index: number; type: Type }; type: Type },
): boolean {
  return base?.kind === 'struct' && base.members[member.index] === member && member.type === type
}

/** Whether values of the type exist: it is not atomic, runtime-sized, or a buffer. */
export function isValueType(type: Type): boolean {
  if (type.kind === 'array') return type.length !== undefined && isValueType(type.element)
  if (type.kind === 'struct') return type.members.every((m) => isValueType(m.type))
  return type.kind !== 'atomic' && type.kind !== 'buffer' && type.kind !== 'pointer'
}

/** The type without its scalar kind. */
export function shape(type: Type): string {
  if (type.kind === 'vector') return `vector ${type.size}`
  return type.kind === 'matrix' ? `matrix ${type.columns} ${type.rows}` : type.kind
}

/** Whether a composite of the type can be made from parts of these types. */
export function hasParts(type: Type, given: readonly Type[]): boolean {
  switch (type.kind) {
    case 'vector': {
      const components = given.reduce((n, t) => n + (t.kind === 'vector' ? t.size : 1), 0)
      return components === type.size && given.every((t) => 'scalar' in t && t.scalar === type.scalar)
    }
    case 'matrix': {
      const column = vectorType(type.rows, type.scalar)
      const byColumns = given.length === type.columns && given.every((t) => t === column)
      const scalars = type.columns * type.rows
      return byColumns || (given.length === scalars && given.every((t) => t === scalarType(type.scalar)))
    }
    case 'array':
      return given.length === type.length && given.every((t) => t === type.element)
    case 'struct':
      return given.length === type.members.length && type.members.every((m, i) => m.type === given[i])
    default:
      return false
  }
}

/** Whether the number or bool is a value of the scalar kind. */
export function isOf(scalar: ScalarKind, value: number | boolean): boolean {
  if (scalar === 'bool' || typeof value === 'boolean') return scalar === 'bool' && typeof value === 'boolean'
  if (scalar === 'i32') return (value | 0) === value && !Object.is(value, -0)
  if (scalar === 'u32') return value >>> 0 === value && !Object.is(value, -0)
  return Number.isFinite(value) && (scalar === 'f16' || Math.fround(value) === value)
}
