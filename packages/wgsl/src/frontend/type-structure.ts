import type { StructMember, Type } from '../ir.ts'
import { partProperty, typeProperty } from '../type-property.ts'
import { vectorType } from '../types.ts'
import { anyScalar, isOverrideSized } from './numeric-types.ts'

/** The type of an element, column or component; undefined for types without. */
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

/** Whether values of a type exist: no atomics and no runtime-sized arrays inside. */
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

/** Whether there is a subgroup matrix inside: values of the type are made only when the shader runs. */
export const containsSubgroupMatrix = partProperty(({ kind }) => kind === 'subgroup-matrix')

/** Whether there is an `atomic<vec2u>` inside. */
export const containsWideAtomic = partProperty((type) => type.kind === 'atomic' && type.wide === true)

/** Whether a type's size is known: no runtime-sized array inside, and no buffer without length. */
export const hasFixedFootprint = typeProperty((type: Type): boolean => {
  if (type.kind === 'array' || type.kind === 'buffer') return type.length !== undefined
  return type.kind !== 'struct' || type.members.every((m) => hasFixedFootprint(m.type))
})

/** How deep composites nest in a type: 0 for a scalar, 1 for a vector. */
export const nestingDepth = typeProperty((type: Type): number => {
  switch (type.kind) {
    case 'vector':
      return 1
    case 'matrix':
      return 2
    case 'array':
      return 1 + nestingDepth(type.element)
    case 'struct':
      return 1 + type.members.reduce((depth, m) => Math.max(depth, nestingDepth(m.type)), 0)
    default:
      return 0
  }
})

/** The length of the longest array of fixed length in a type; 0 without one. */
export const longestArray = typeProperty((type: Type): number => {
  if (type.kind === 'array') return Math.max(type.length ?? 0, longestArray(type.element))
  if (type.kind !== 'struct') return 0
  return type.members.reduce((length, m) => Math.max(length, longestArray(m.type)), 0)
})
