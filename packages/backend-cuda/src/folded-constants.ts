import type { KnownValues } from './known-values.ts'
import { isComputed, isPredicate, type PtxInstruction, type PtxKernel } from './ptx-instructions.ts'
import { isNegative } from './value-facts.ts'

/**
 * Whether PTX splits a register into halves that it may also compare for equality with a literal. Where a branch has
 * found them equal, ptxas 13.0 takes the whole literal for each half, on all architectures, at -O1 to -O3: after
 * `if (x == 17u)`, `bitcast<vec2<f16>>(x)` is 17 twice.
 *
 * Accepted are instructions in which no register that is split and none that is compared are the same or computed from
 * the same, over any others. So none can be a copy of the other, whatever ptxas knows about the operands.
 */
export function hasSplitConstants(kernel: PtxKernel, values: KnownValues): boolean {
  const { instructions, readers } = kernel
  const split = instructions.flatMap(({ name, modifiers, operands, sources }) =>
    (name === 'mov' && operands.startsWith('{')) || modifiers.includes('f16x2') ? sources : [],
  )
  if (split.length === 0) return false
  const related = new Set(kernel.partsOf(split))
  for (const part of related)
    for (const i of readers.get(part) ?? [])
      if (isComputed(instructions[i]!)) for (const target of instructions[i]!.targets) related.add(target)
  return instructions.some(({ name, modifiers, sources }) => {
    if (name !== 'setp' || !/^\.(?:eq|ne)\b/.test(modifiers)) return false
    const compared = sources.filter((register) => !isPredicate(register))
    if (!compared.some((register) => related.has(register))) return false
    return compared.length < 2 || compared.some((register) => values.isFixed(register))
  })
}

/**
 * Whether PTX converts an integer that a condition chooses from literals to an f32 and uses its bits. ptxas 13.0 may
 * take the integer for the bits, or leave out that these are converted again, where it knows the literals: 0 and 1. On
 * all architectures, at -O1 to -O3.
 *
 * Accepted are conversions of integers that are no copies of such selections, and those whose results are not copied.
 */
export function hasConvertedSelections(kernel: PtxKernel, values: KnownValues): boolean {
  return kernel.instructions.some(
    ({ name, modifiers, sources, targets }) =>
      name === 'cvt' &&
      /\.f32\.[su]32$/.test(modifiers) &&
      (kernel.readers.get(targets[0]!) ?? []).some((i) => kernel.instructions[i]!.name === 'mov') &&
      sources.some((register) => isChosen(kernel, values, register)),
  )
}

/**
 * Whether PTX shifts an integer right with its sign, by less than eight, of which the sign is known to be set. ptxas 13.0 takes
 * the result for not negative where operations on bits have set the sign, on all architectures, at -O1 to -O3.
 */
export function hasShiftedSigns({ instructions }: PtxKernel, values: KnownValues): boolean {
  const hasSign = (register: string) => {
    const known = values.of(register)
    return known !== undefined && isNegative(known)
  }
  return instructions.some(
    ({ name, modifiers, operands, sources }) =>
      name === 'shr' && modifiers === '.s32' && /, [1-7]$/.test(operands) && sources.some(hasSign),
  )
}

/** Whether a register may be a copy of what selections or branches choose from literals. */
function isChosen(kernel: PtxKernel, values: KnownValues, register: string): boolean {
  return [...kernel.copiedBy([register])].some((copied) => {
    const choices = kernel.definedBy([copied])
    return (
      (choices.length > 1 || choices[0]?.name === 'selp') &&
      choices.every((choice) => isComputed(choice) && takesLiterals(choice, values))
    )
  })
}

/** Whether all operands of an instruction but predicates are literals. */
function takesLiterals({ sources }: PtxInstruction, values: KnownValues): boolean {
  return sources.every((source) => isPredicate(source) || values.isFixed(source))
}

/**
 * Whether PTX compares two integers that it has joined bit by bit, and that are chosen by a predicate each, such as
 * `selp 1, 0`. If it combines the result with another predicate, ptxas 13.0 makes one instruction of all three
 * predicates (PLOP3), and loses the negations of the first two. On all architectures, at -O1 to -O3.
 *
 * Accepted are instructions in which no comparison has an operand that is computed, through bits, from two operands
 * that are both chosen, or computed from such a one alone, other than by a sum.
 */
export function hasJoinedSelections(kernel: PtxKernel, values: KnownValues): boolean {
  const { instructions, readers } = kernel
  const chosen = new Set<string>()
  const joined = new Set<string>()
  for (const instruction of instructions)
    if (instruction.name === 'selp' && takesLiterals(instruction, values)) chosen.add(instruction.targets[0]!)
  for (const register of chosen)
    for (const i of readers.get(register) ?? []) {
      const { name, sources, targets } = instructions[i]!
      const isChosen = sources.every((s) => isPredicate(s) || chosen.has(s))
      if (!isComputed(instructions[i]!) || !isChosen || isPredicate(targets[0]!)) continue
      if (sources.length > 1 && bitwise.test(name)) joined.add(targets[0]!)
      else if (name === 'selp' || (sources.length === 1 && name !== 'add')) chosen.add(targets[0]!)
    }
  for (const register of joined)
    for (const i of readers.get(register) ?? []) {
      const { name, targets } = instructions[i]!
      if (name === 'setp') return true
      if (bitwise.test(name)) joined.add(targets[0]!)
    }
  return false
}

const bitwise = /^(?:and|or|xor|lop3|not|cvt|mov|shl|shr)$/
