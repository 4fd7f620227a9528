import type { Type } from '../ir.ts'
import { vectorType } from '../types.ts'
import { anyScalar, scalarOf } from './numeric-types.ts'

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

/** Whether values of a type exist: no atomics and no runtime-sized arrays inside. */
export function isConstructible(type: Type): boolean {
  switch (type.kind) {
    case 'scalar':
    case 'vector':
    case 'matrix':
      return true
    case 'array':
      return type.length !== undefined && isConstructible(type.element)
    case 'struct':
      return type.members.every((m) => isConstructible(m.type))
    default:
      return false
  }
}

/** Whether the host can share memory of the type: no bool inside. */
export function isHostShareable(type: Type): boolean {
  switch (type.kind) {
    case 'array':
      return isHostShareable(type.element)
    case 'struct':
      return type.members.every((m) => isHostShareable(m.type))
    default:
      return scalarOf(type) !== 'bool'
  }
}

/** Whether there is an atomic inside; with `wide`, whether there is an `atomic<vec2u>`. */
export function containsAtomic(type: Type, wide = false): boolean {
  if (type.kind === 'array') return containsAtomic(type.element, wide)
  if (type.kind === 'atomic') return !wide || type.wide === true
  return type.kind === 'struct' && type.members.some((m) => containsAtomic(m.type, wide))
}
