import type { StructMember, Type } from '../ir.ts'
import { partProperty, typeProperty } from '../type-property.ts'
import { vectorType } from '../types.ts'
import { anyScalar, isOverrideSized } from './numeric-types.ts'

/** The type of an element, column or component; undefined for types without elements. */
export function elementType(type: Type): Type | undefined {
  switch (type.kind) {
    case 'array':
      return type.element
    case 'vector':
      return anyScalar(type.scalar)
    case 'matrix':
      return vectorType(type.rows, type.scalar)
    default:
      return undefined
  }
}

/** The members of a structure by their names. */
export const membersByName = typeProperty(
  (type: Type): ReadonlyMap<string, StructMember> =>
    new Map(type.kind === 'struct' ? type.members.map((member) => [member.name, member]) : []),
)

/** Whether a type is constructible: it contains no atomics and no runtime-sized arrays. */
export const isConstructible = typeProperty((type: Type): boolean => {
  switch (type.kind) {
    case 'scalar':
    case 'vector':
    case 'matrix':
    case 'subgroup-matrix':
      return true
    case 'array':
      return type.length !== undefined && !isOverrideSized(type) && isConstructible(type.element)
    case 'struct':
      return type.members.every((m) => isConstructible(m.type))
    default:
      return false
  }
})

/** Whether a type contains an `atomic<vec2u>`. */
export const containsWideAtomic = partProperty((type) => type.kind === 'atomic' && type.wide === true)

/** Whether the size of a type is known: it contains no runtime-sized array and no buffer without length. */
export const hasFixedFootprint = typeProperty((type: Type): boolean => {
  if (type.kind === 'array' || type.kind === 'buffer') return type.length !== undefined
  return type.kind !== 'struct' || type.members.every((m) => hasFixedFootprint(m.type))
})

/** The nesting depth of composites in a type: 0 for a scalar, 1 for a vector. */
export const nestingDepth = typeProperty((type: Type): number => {
  const element = elementType(type)
  if (element !== undefined) return 1 + nestingDepth(element)
  if (type.kind !== 'struct') return 0
  return 1 + type.members.reduce((depth, m) => Math.max(depth, nestingDepth(m.type)), 0)
})

/** The length of the longest fixed-length array in a type; 0 if there is none. */
export const longestArray = typeProperty((type: Type): number => {
  if (type.kind === 'array') return Math.max(type.length ?? 0, longestArray(type.element))
  if (type.kind !== 'struct') return 0
  return type.members.reduce((length, m) => Math.max(length, longestArray(m.type)), 0)
})
