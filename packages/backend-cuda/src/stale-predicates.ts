import { isPredicate, type PtxInstruction, type PtxKernel } from './ptx-instructions.ts'

/**
 * Whether PTX uses what it computed of a predicate after that predicate has been set again. The compiler keeps a
 * flag that a loop changes in one predicate register. Where `and.pred`, `or.pred`, `xor.pred` or a `setp` that
 * combines has an operand that ptxas 13.0 can compute from literals of the same block, it takes the other operand
 * for the result, and branches on that register's later value; it also takes such a result for the same in all
 * rounds of a loop that sets its operand to a constant. On all architectures, at -O1 to -O3.
 *
 * Accepted are instructions in which no path leads from such an operation through another definition of one of its
 * operands, which has several, to a use of its result, or of what such operations compute of that, in another
 * register that still has that value.
 */
export function hasStalePredicates(kernel: PtxKernel): boolean {
  const { instructions, definitions, readers } = kernel
  const others = (register: string, at: number) => (definitions.get(register) ?? []).filter((i) => i !== at)
  return instructions.some((operation, at) =>
    predicatesIn(operation).some((operand) => {
      if (definitions.get(operand)?.length === 1) return false
      const before = kernel.reached([at], [at])
      const changes = others(operand, at).filter((i) => before[i] === 1)
      if (changes.length === 0) return false
      return resultsOf(at, instructions, readers).some((computed) =>
        instructions[computed]!.targets.some((result) => {
          const uses = readers.get(result) ?? []
          if (result === operand || uses.length === 0) return false
          // A guarded one may leave the value.
          const ends = others(result, computed).filter((i) => instructions[i]!.condition === undefined)
          const last = new Set(ends)
          const after = kernel.reached(
            changes.filter((i) => !last.has(i)),
            [at, ...ends],
          )
          return uses.some((i) => after[i] === 1)
        }),
      )
    }),
  )
}

/**
 * Whether PTX changes a predicate in a loop behind a branch on it. ptxas 13.0 takes the value that a branch in front of
 * a loop has found for the value in all rounds, on all architectures, at -O1 to -O3, if there is another branch in
 * front of that one: `if (p) { loop { x += select(0, 1, p); p = !p; } }`, where both are one register.
 *
 * Accepted are instructions in which, behind a branch that is passed first on all ways to there, no use and no
 * definition of a predicate from which the branch's condition is computed can be reached both from the branch, with
 * the value that it found, and again after a definition, without passing the branch.
 */
export function hasChangesOfKnownPredicates(kernel: PtxKernel): boolean {
  const { instructions, definitions, readers } = kernel
  return instructions.some(({ name, condition }, branch) => {
    if (name !== 'bra' || condition === undefined) return false
    const parts = new Set([condition])
    for (const part of parts)
      for (const at of definitions.get(part) ?? [])
        for (const source of instructions[at]!.sources) if (isPredicate(source)) parts.add(source)
    return [...parts].some((part) => {
      const changes = definitions.get(part) ?? []
      if (changes.length < 2) return false
      const known = kernel.reached([branch], changes)
      const elsewhere = branch === 0 ? undefined : kernel.reached([0], [branch])
      return [...(readers.get(part) ?? []), ...changes].some((at) => {
        if (known[at] === 0 || at === branch || elsewhere?.[at] === 1) return false
        const after = kernel.reached([at], [branch])
        const between = changes.filter((i) => i === at || after[i] === 1)
        return kernel.reached(between, [branch])[at] === 1
      })
    })
  })
}

/** The operands of an operation on predicates. */
function predicatesIn({ name, modifiers, sources }: PtxInstruction): readonly string[] {
  const combines =
    name === 'setp'
      ? /\.(?:and|or|xor)\b/.test(modifiers)
      : /^(?:and|or|xor)$/.test(name) && modifiers === '.pred'
  return combines ? sources.filter(isPredicate) : []
}

/** An operation on predicates, and those that use its result, or theirs. */
function resultsOf(
  at: number,
  instructions: readonly PtxInstruction[],
  readers: ReadonlyMap<string, readonly number[]>,
): readonly number[] {
  const found = new Set([at])
  for (const one of found)
    for (const target of instructions[one]!.targets)
      for (const i of readers.get(target) ?? [])
        if (predicatesIn(instructions[i]!).includes(target)) found.add(i)
  return [...found]
}
