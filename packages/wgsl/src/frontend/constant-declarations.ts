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

const ids = new WeakMap<object, number>()
let nextId = 0

/** A key that composites of the same parts share, if there are few parts and the first is a list itself. */
export function keyOf(parts: readonly unknown[]): string | undefined {
  if (typeof parts[0] !== 'object' || parts.length > 16) return undefined
  const keys = parts.map((part) => {
    if (typeof part !== 'object' || part === null)
      return `${typeof part} ${Object.is(part, -0) ? '-0' : part}`
    const id = ids.get(part) ?? nextId++
    ids.set(part, id)
    return id
  })
  return keys.join()
}
