import {
  isComputed,
  isLiteralMove,
  isPredicate,
  type PtxInstruction,
  type PtxKernel,
} from './ptx-instructions.ts'

/**
 * Whether PTX uses what it computed of a predicate after that predicate has been set again. The compiler keeps a flag
 * that changes in one predicate register. ptxas 13.0 computes some results where they are used, with the register's later
 * value: those of `and.pred`, `or.pred`, `xor.pred` and `setp` where it can compute the other operand from literals of
 * the same block, which it also takes for the same in all rounds of a loop, and selections from literals, as where
 * `select(0, 1, p) * 2` is added to 3 behind a branch that changes `p`. On all architectures, at -O1 to -O3.
 *
 * Accepted are instructions in which no path leads from a computation with a predicate, which has several definitions,
 * through another of these to a use of the result, or of what is computed of that, in another register that still has
 * that value. A copy of a predicate counts where it is computed with, unless the predicate is a literal there.
 */
export function hasStalePredicates(kernel: PtxKernel): boolean {
  const { instructions, definitions, readers } = kernel
  return [...definitions].some(
    ([register, { length }]) =>
      isPredicate(register) &&
      length > 1 &&
      readers.get(register)?.some((i) => isComputed(instructions[i]!) && isStale(register, i, kernel)),
  )
}

/** Whether what an instruction computes with a predicate is used after the predicate has been set again. */
function isStale(predicate: string, at: number, kernel: PtxKernel): boolean {
  const { instructions, definitions, readers } = kernel
  if (isCopy(instructions[at]!) && isLiteralAt(predicate, at, kernel)) return false
  const before = kernel.reached([at], [at])
  const changes = definitions.get(predicate)!.filter((i) => i !== at && before[i] === 1)
  if (changes.length === 0) return false
  return resultsOf(at, kernel).some((computed) => {
    const { targets } = instructions[computed]!
    if (isCopy(instructions[computed]!)) return false
    return targets.some((result) => {
      const uses = readers.get(result) ?? []
      if (result === predicate || uses.length === 0) return false
      const ends = endsOf(result, computed, kernel)
      const last = new Set(ends)
      const after = kernel.reached(
        changes.filter((i) => !last.has(i)),
        [at, ...ends],
      )
      return uses.some((i) => after[i] === 1)
    })
  })
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

/** The instructions that set a register and end what another has set; one that is guarded may leave it. */
function endsOf(register: string, at: number, { instructions, definitions }: PtxKernel): readonly number[] {
  return definitions.get(register)!.filter((i) => i !== at && instructions[i]!.condition === undefined)
}

/** Whether all instructions that set a predicate for another one set it to a literal. */
function isLiteralAt(predicate: string, at: number, kernel: PtxKernel): boolean {
  return kernel.definitions
    .get(predicate)!
    .every(
      (i) =>
        isLiteralMove(kernel.instructions[i]!) || kernel.reached([i], endsOf(predicate, i, kernel))[at] !== 1,
    )
}

function isCopy({ name, modifiers }: PtxInstruction): boolean {
  return name === 'mov' && modifiers === '.pred'
}

/** An instruction, and those that compute from its result, or from theirs. */
function resultsOf(at: number, kernel: PtxKernel): readonly number[] {
  const { instructions, readers } = kernel
  const found = new Set([at])
  for (const one of found)
    for (const target of instructions[one]!.targets) {
      const reached = kernel.reached([one], endsOf(target, one, kernel))
      for (const i of readers.get(target) ?? [])
        if (reached[i] === 1 && isComputed(instructions[i]!)) found.add(i)
    }
  return [...found]
}
