import type { StructMember, Type } from '../ir.ts'
import { typeProperty } from '../type-property.ts'
import { vectorType } from '../types.ts'
import { anyScalar, isOverrideSized, scalarOf } from './numeric-types.ts'

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

/** How many elements, columns or components there are; undefined for runtime-sized arrays. */
export function elementCount(type: Type): number | undefined {
  return type.kind === 'array'
    ? type.length
    : type.kind === 'vector'
      ? type.size
      : type.kind === 'matrix'
        ? type.columns
        : undefined
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

/** Whether the host can share memory of the type: no bool inside. */
export const isHostShareable = typeProperty((type: Type): boolean => {
  switch (type.kind) {
    case 'array':
      return isHostShareable(type.element)
    case 'struct':
      return type.members.every((m) => isHostShareable(m.type))
    case 'subgroup-matrix':
      return false
    default:
      return scalarOf(type) !== 'bool'
  }
})

/** Whether there is an atomic inside. */
export const containsAtomic = typeProperty((type: Type): boolean => {
  if (type.kind === 'array') return containsAtomic(type.element)
  return (
    type.kind === 'atomic' || (type.kind === 'struct' && type.members.some((m) => containsAtomic(m.type)))
  )
})

/** Whether there is a subgroup matrix inside: values of the type are made only when the shader runs. */
export const containsSubgroupMatrix = typeProperty((type: Type): boolean => {
  if (type.kind === 'array') return containsSubgroupMatrix(type.element)
  if (type.kind === 'struct') return type.members.some((m) => containsSubgroupMatrix(m.type))
  return type.kind === 'subgroup-matrix'
})

/** Whether there is an `atomic<vec2u>` inside. */
export const containsWideAtomic = typeProperty((type: Type): boolean => {
  if (type.kind === 'array') return containsWideAtomic(type.element)
  if (type.kind === 'atomic') return type.wide === true
  return type.kind === 'struct' && type.members.some((m) => containsWideAtomic(m.type))
})

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
