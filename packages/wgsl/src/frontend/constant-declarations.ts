/** The const-declaration of a composite value, or of one that it is a part of (`name.0.member`). */
type Declared = { readonly name: string; readonly at: number }

const declarations = new WeakMap<object, Declared>()

/** The first declaration that has this list of values, or a list that was converted to it. */
export function declarationOf(value: unknown): Declared | undefined {
  return typeof value === 'object' && value !== null ? declarations.get(value) : undefined
}

/**
 * Notes that a declaration has a value. There is nothing to note for a scalar, nor for the zeros of an array: their
 * empty list belongs to the type, which may live as long as the process, and would keep the source of the name.
 */
export function declare(value: unknown, declaration: Declared | undefined): void {
  if (!Array.isArray(value) || value.length === 0 || declaration === undefined) return
  if (!declarations.has(value)) declarations.set(value, declaration)
}
