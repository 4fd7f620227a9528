import {
  isComputed,
  isLiteralMove,
  isPredicate,
  type PtxInstruction,
  type PtxKernel,
} from './ptx-instructions.ts'

/*
 * ptxas finds literals late that nvcc does not know: it removes shuffles of literals, and branches that are excluded by the
 * bits of a value, however many operations give these.
 */

/**
 * Whether PTX shuffles what nvcc would know to be a literal if it knew that a shuffle of one is that literal. ptxas 13.0
 * finds such literals late, which leads to the errors of the two other checks here.
 *
 * Accepted are shuffles of what varies: of registers that nothing computes, such as loaded ones, that are set to different
 * literals, or that are set more than once and by a computation without shuffled operands, such as counters, and of
 * whatever has such an operand.
 */
export function hasShuffledLiterals(kernel: PtxKernel): boolean {
  const { instructions, definitions, readers } = kernel
  const shuffles = instructions.filter(({ name }) => name === 'shfl')
  if (shuffles.length === 0) return false
  /** The operands from which the result of an instruction follows. */
  const valuesOf = (instruction: PtxInstruction) => {
    if (!mayGiveLiteral(instruction)) return []
    return instruction.name === 'shfl' ? instruction.sources.slice(0, 1) : instruction.sources
  }
  const addResults = (registers: Set<string>) => {
    for (const register of registers)
      for (const reader of (readers.get(register) ?? []).map((i) => instructions[i]!))
        if (valuesOf(reader).includes(register)) for (const target of reader.targets) registers.add(target)
    return registers
  }
  const shuffled = addResults(new Set(shuffles.flatMap(({ targets }) => targets)))
  const changes = (origins: readonly PtxInstruction[]) =>
    new Set(origins.filter(isLiteralMove).map(({ operands }) => /, (.*)/.exec(operands)?.[1])).size > 1 ||
    origins.some(({ name, sources }) => name !== 'mov' && !sources.some((source) => shuffled.has(source)))
  const varies = new Set<string>()
  for (const { sources } of instructions)
    for (const source of sources) if (!definitions.has(source)) varies.add(source)
  for (const register of definitions.keys()) {
    const origins = kernel.definedBy([register])
    if (!origins.every(mayGiveLiteral) || (origins.length > 1 && changes(origins))) varies.add(register)
  }
  addResults(varies)
  return shuffles.some(({ sources }) => !varies.has(sources[0]!))
}

/**
 * Whether PTX shifts bits of a value to the left by the low five bits of an amount that ptxas may find late to be a literal.
 * If the amount is above 31, ptxas 13.0 takes 0 for the result. On all architectures, at -O1 to -O3.
 *
 * Accepted are amounts whose low bits nvcc did not have to take, or took of what nothing computes or shuffles, such as a
 * loaded value, and shifts of what does not follow from a result of `and` or `bfe`.
 */
export function hasMaskedShifts(kernel: PtxKernel): boolean {
  return kernel.instructions.some(({ name, sources }) => {
    if (name !== 'shl') return false
    const [value, amount] = sources
    if (amount === undefined || value === undefined) return false
    const masks = kernel
      .definedBy([amount])
      .filter(({ name, operands }) => name === 'and' && /, 31$/.test(operands))
    return (
      masks.some((mask) => kernel.definedBy(mask.sources).some(mayGiveLiteral)) &&
      kernel.hasOrigin([value], ({ name }) => name === 'and' || name === 'bfe')
    )
  })
}

/**
 * Whether machine code may have `x - c` for a difference `c - x` in a minimum or maximum: ptxas 13.0 takes it where it
 * makes one instruction of both (VIADDMNMX) and then finds that `c` is a literal, at -O1 to -O3.
 *
 * Accepted is PTX in which no operand of a minimum, a maximum or an ordered comparison, beside another register or 0, takes
 * a register away from a computed one or adds two that are set to literals. Accepted too is machine code whose VIADDMNMX
 * add no literal more often than other sums in minimums, maximums and selections of the PTX do.
 *
 * @param counts - How often VIADDMNMX adds each literal in the machine code. See `extremesOfSums`.
 */
export function hasLateDifferences(kernel: PtxKernel, counts: ReadonlyMap<number, number>): boolean {
  const added: number[] = []
  let hasDifference = false
  for (const { terms, isFused, mayBeLate } of orderedSums(kernel)) {
    if (isFused && !terms.isDifference) added.push(...terms.literals)
    hasDifference ||= mayBeLate && terms.isDifference
  }
  return (
    hasDifference &&
    [...counts].some(([literal, count]) => count > added.filter((other) => other === literal).length)
  )
}

/**
 * The same without machine code, for the driver's ptxas. Accepted are the sums above, and those that take a register away
 * from none that may have been set to a literal.
 */
export function hasDifferencesFromLiterals(kernel: PtxKernel): boolean {
  for (const { terms, mayBeLate } of orderedSums(kernel)) if (mayBeLate && terms.isFromLiteral) return true
  return false
}

interface OrderedSum {
  readonly terms: Terms
  /** Whether ptxas may make one instruction of the sum and the minimum, maximum or selection. */
  readonly isFused: boolean
  readonly mayBeLate: boolean
}

/** The operands of minimums, maximums and ordered comparisons of which an operand is copied. */
function* orderedSums(kernel: PtxKernel): Generator<OrderedSum> {
  for (const instruction of kernel.instructions) {
    const { name, modifiers, operands, sources } = instruction
    if (!/^(?:max|min|setp?|slct)$/.test(name) || /^\.(?:eq|ne)\b|\.b?f\d/.test(modifiers)) continue
    const ordered = sources.filter((source) => !isPredicate(source))
    const isComparison = name.startsWith('set')
    if (isComparison && !ordered.some((source) => isCopied(kernel, source))) continue
    for (const sum of ordered)
      yield {
        terms: termsOf(kernel, sum),
        isFused: !isComparison || isSelected(kernel, instruction, sum),
        mayBeLate: ordered.length > 1 || /, 0$/.test(operands),
      }
  }
}

/** Whether the result of a comparison selects one of its operands. */
function isSelected(
  { instructions, readers }: PtxKernel,
  { targets }: PtxInstruction,
  operand: string,
): boolean {
  const selections = targets.flatMap((target) => readers.get(target) ?? []).map((i) => instructions[i]!)
  return selections.some(({ name, sources }) => name === 'selp' && sources.includes(operand))
}

function isCopied({ instructions, readers }: PtxKernel, register: string): boolean {
  return (readers.get(register) ?? []).some((i) => /^(?:mov|selp)$/.test(instructions[i]!.name))
}

interface Terms {
  readonly literals: ReadonlySet<number>
  /** Whether the sum takes a register away from a computed one, or has two that may have been set to literals. */
  readonly isDifference: boolean
  /** Whether the sum takes a register away from one that may have been set to a literal. */
  readonly isFromLiteral: boolean
}

/** The terms of a sum, which may be sums themselves. */
function termsOf(kernel: PtxKernel, sum: string): Terms {
  const literals = new Set<number>()
  const terms = new Map([[sum, { register: sum, sign: 1 }]])
  const found = new Set<string>()
  const set = new Set<string>()
  let hasNegated = false
  let hasLiteralTerm = false
  for (const { register, sign } of terms.values()) {
    const origins = kernel.definedBy([register])
    const sums = origins.filter(isSum)
    const isKnown = origins.length === 1 && isLiteralMove(origins[0]!)
    const isTerm = sums.length < origins.length || origins.length !== 1 || origins[0]?.name === 'selp'
    if (register !== sum && !isKnown && isTerm) {
      hasNegated ||= sign < 0
      if (sign < 0 || origins.some(mayGiveLiteral)) found.add(register)
      if (origins.some(hasLiteral)) {
        set.add(register)
        hasLiteralTerm ||= sign > 0
      }
    }
    for (const { name, operands } of sums)
      for (const [at, term] of operands.split(/,\s*/).slice(1).entries()) {
        const termSign = name === 'neg' || (name === 'sub' && at === 1) ? -sign : sign
        if (/^-?\d/.test(term)) {
          if (name === 'add' || name === 'sub') literals.add((termSign * Number(term)) | 0)
        } else if (!isPredicate(term)) terms.set(`${term} ${termSign}`, { register: term, sign: termSign })
      }
  }
  return {
    literals,
    isDifference: (hasNegated && found.size > 1) || set.size > 1,
    isFromLiteral: hasNegated && hasLiteralTerm,
  }
}

/** Whether ptxas may find the result of an instruction to be a literal: it is computed or shuffled. */
function mayGiveLiteral(instruction: PtxInstruction): boolean {
  return isComputed(instruction) || instruction.name === 'shfl'
}

/** Whether an instruction gives a register a literal, or one by a condition. */
function hasLiteral({ name, operands }: PtxInstruction): boolean {
  return /^(?:mov|selp)$/.test(name) && /, -?\d/.test(operands)
}

function isSum({ name, modifiers }: PtxInstruction): boolean {
  return /^(?:add|cvt|mov|neg|selp|sub)$/.test(name) && /^(?:\.\w+)?\.[bsu](?:16|32)$/.test(modifiers)
}
