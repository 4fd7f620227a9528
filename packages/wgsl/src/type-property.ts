import type { Type } from './ir.ts'

/**
 * A property of types that is computed from the types inside, once for each type. Without that, structures that hold one
 * another twice would take time exponential in their number.
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
