import type { Type } from './ir.ts'

/**
 * A property of types that is computed from the types inside, once per type. Without caching, structures that
 * each contain the previous one twice would take exponential time.
 */
export function typeProperty<T>(compute: (type: Type) => T): (type: Type) => T {
  const known = new WeakMap<Type, { readonly value: T }>()
  return (type) => {
    let found = known.get(type)
    if (found === undefined) {
      found = { value: compute(type) }
      known.set(type, found)
    }
    return found.value
  }
}

/** A property that a type has if it, an element or a member has it. */
export function partProperty(holds: (type: Type) => boolean): (type: Type) => boolean {
  const property = typeProperty(
    (type: Type): boolean =>
      holds(type) ||
      (type.kind === 'array' && property(type.element)) ||
      (type.kind === 'struct' && type.members.some((m) => property(m.type))),
  )
  return property
}

/** Whether a type contains a subgroup matrix; values of such a type are never constant. */
export const containsSubgroupMatrix = partProperty(({ kind }) => kind === 'subgroup-matrix')

export const containsArray = partProperty(({ kind }) => kind === 'array' || kind === 'buffer')

export const containsAtomic = partProperty(({ kind }) => kind === 'atomic')

const hasNoLayout = partProperty(
  (type) => type.kind === 'subgroup-matrix' || ('scalar' in type && type.scalar === 'bool'),
)

/** Whether the type is host-shareable. A bool and a subgroup matrix have no layout. */
export const isHostShareable = (type: Type): boolean => !hasNoLayout(type)
