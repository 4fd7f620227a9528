/** The const-declaration of a composite value, or of one that it is a part of (`name.0.member`). */
type Declared = { readonly name: string; readonly at: number }

const declarations = new WeakMap<object, Declared>()

/** The first declaration that has this list of values, or a list that was converted to it. */
export function declarationOf(value: unknown): Declared | undefined {
  return typeof value === 'object' && value !== null ? declarations.get(value) : undefined
}

/** Notes that a declaration has a value; for a scalar there is nothing to note. */
export function declare(value: unknown, declaration: Declared | undefined): void {
  if (typeof value !== 'object' || value === null || declaration === undefined) return
  if (!declarations.has(value)) declarations.set(value, declaration)
}
