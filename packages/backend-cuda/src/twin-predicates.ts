import type { PtxKernel } from './ptx-instructions.ts'

/**
 * Whether PTX joins the same two predicates by two of `and`, `or` and `xor`. ptxas 13.0 makes one instruction of both
 * (PLOP3), and may take the first of its results for the second. On all architectures, at -O1 to -O3.
 *
 * Accepted are instructions of which no two have the same predicates or negations of them as their operands.
 */
export function hasTwinPredicates(kernel: PtxKernel): boolean {
  /** The predicate of which one is a copy or the negation, or that one. */
  const originOf = (predicate: string): string => {
    const [only, ...others] = kernel.definedBy([predicate])
    const isCopy = others.length === 0 && only?.sources.length === 1 && /^(?:mov|not)$/.test(only.name)
    return isCopy ? originOf(only.sources[0]!) : predicate
  }
  const joined = new Map<string, string>()
  return kernel.instructions.some(({ name, modifiers, sources }) => {
    if (modifiers !== '.pred' || !/^(?:and|or|xor)$/.test(name) || sources.length !== 2) return false
    const operands = sources.map(originOf).sort().join(' ')
    const twin = joined.get(operands)
    joined.set(operands, name)
    return twin !== undefined && twin !== name
  })
}
