import { isComputed, isHidden, isPredicate, type PtxInstruction, type PtxKernel } from './ptx-instructions.ts'

/**
 * Whether PTX splits a register into halves that it may also compare for equality with a literal. Where a branch has
 * found them equal, ptxas 13.0 takes the whole literal for each half, on all architectures, at -O1 to -O3: after
 * `if (x == 17u)`, `bitcast<vec2<f16>>(x)` is 17 twice.
 *
 * Accepted are instructions in which no register that is split and none that is compared are the same or computed from
 * the same, over any others. So none can be a copy of the other, whatever ptxas knows about the operands.
 */
export function hasSplitConstants(kernel: PtxKernel): boolean {
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
    return compared.length < 2 || compared.some((register) => kernel.mayBeKnown(register))
  })
}

/**
 * Whether PTX computes an integer or a predicate from literals alone, such as `bfind` of one, with the bits of a float
 * that follows from literals alone, or as the products of four bytes (`dp4a`) with 0. nvcc leaves these to ptxas 13.0,
 * most of whose errors need operands that only it knows.
 *
 * Accepted are moves, floats from literals and comparisons of them with others, registers of 64 bits, which are
 * addresses, and whatever has an operand that does not follow from literals alone, but for products with 0.
 */
export function hasLiteralOperands(kernel: PtxKernel): boolean {
  const { instructions, definitions, readers } = kernel
  const literals = new Set<string>()
  const hasLiterals = (instruction: PtxInstruction) =>
    isComputed(instruction) && instruction.sources.every((source) => literals.has(source))
  const addLiterals = (instruction: PtxInstruction) => {
    const { name, operands, sources, targets, condition } = instruction
    const isAddress = name === 'mov' && sources.length === 0 && !/, -?\d/.test(operands)
    const isSetOnce = condition === undefined && targets.every((t) => definitions.get(t)!.length === 1)
    if (hasLiterals(instruction) && !isAddress && isSetOnce)
      for (const target of targets) literals.add(target)
  }
  instructions.forEach(addLiterals)
  for (const register of literals) for (const i of readers.get(register) ?? []) addLiterals(instructions[i]!)

  const givesFloat = ({ name, modifiers }: PtxInstruction) =>
    !/^(?:setp|testp)$/.test(name) && /\.(?:b?f|[bsu])\d/.exec(modifiers)?.[0].includes('f') === true
  const floats = new Set(
    instructions
      .filter((instruction) => instruction.name !== 'mov' && givesFloat(instruction))
      .flatMap(({ targets }) => targets.filter((target) => literals.has(target))),
  )
  for (const register of floats)
    for (const { name, targets } of (readers.get(register) ?? []).map((i) => instructions[i]!))
      if (name === 'mov') for (const target of targets) floats.add(target)

  return instructions.some((instruction) => {
    const { name, modifiers, sources, targets } = instruction
    if (name === 'mov' || targets.some((target) => target.startsWith('%rd'))) return false
    if (hasLiterals(instruction)) return !givesFloat(instruction)
    if (name === 'dp4a' && kernel.definedBy(sources.slice(0, 2)).some(({ operands }) => / 0$/.test(operands)))
      return true
    const isInteger = isComputed(instruction) && !/\.b?f\d/.test(modifiers)
    return isInteger && sources.some((source) => floats.has(source))
  })
}

/**
 * Whether PTX takes a signed minimum of an unsigned maximum, or the other way around. ptxas 13.0 takes 0 for
 * `min(i32(max(x, 0u)), 0)`, which is `x` where that is negative, if nvcc has not removed a maximum with what only
 * ptxas knows to be 0. On all architectures, at -O1 to -O3.
 *
 * Accepted are instructions in which no operand of one is computed from the result of the other, or one of both has
 * no operand that may be 0 as a literal.
 */
export function hasExtremesOfBothSigns(kernel: PtxKernel): boolean {
  const mayHaveZero = ({ operands, sources }: PtxInstruction) =>
    /, 0\b/.test(operands) || sources.some((register) => kernel.mayBeKnown(register))
  return kernel.instructions.some((instruction) => {
    const opposite = opposites[kindOf(instruction)]
    if (opposite === undefined || !mayHaveZero(instruction)) return false
    return kernel.hasOrigin(
      instruction.sources,
      (before) => kindOf(before) === opposite && mayHaveZero(before),
    )
  })
}

/**
 * Whether PTX orders an unsigned integer that a condition chooses from literals and what only ptxas may know to be 0.
 * ptxas 13.0 takes `(p ? -1 : 0) < 0` for `p`, without a sign too; nvcc leaves out comparisons with 0. On all
 * architectures, at -O1 to -O3.
 *
 * Accepted are comparisons in which no operand is 0 or may be known to ptxas only, or the other one is no copy of what
 * selections or branches choose from values that ptxas may know.
 */
export function hasOrderedSelections(kernel: PtxKernel): boolean {
  return kernel.instructions.some(({ name, modifiers, operands, sources }) => {
    if (name !== 'setp' || !/^\.(?:[gl][et]|hi|hs|lo|ls)\b.*\.u\d+$/.test(modifiers)) return false
    const compared = sources.filter((register) => !isPredicate(register))
    return compared.some((register) => {
      const others = compared.filter((other) => other !== register)
      const mayBeZero = /, 0\b/.test(operands) || kernel.hasOrigin(others, isHidden)
      return mayBeZero && isChosen(kernel, register)
    })
  })
}

/**
 * Whether PTX converts an integer that a condition chooses from literals to an f32 and uses its bits. ptxas 13.0 may
 * take the integer for the bits, or leave out that these are converted again, where it knows the literals: 0 and 1. On
 * all architectures, at -O1 to -O3.
 *
 * Accepted are conversions of integers that are no copies of such selections, and those whose results are not copied.
 */
export function hasConvertedSelections(kernel: PtxKernel): boolean {
  return kernel.instructions.some(
    ({ name, modifiers, sources, targets }) =>
      name === 'cvt' &&
      /\.f32\.[su]32$/.test(modifiers) &&
      (kernel.readers.get(targets[0]!) ?? []).some((i) => kernel.instructions[i]!.name === 'mov') &&
      sources.some((register) => isChosen(kernel, register)),
  )
}

/**
 * Whether PTX shifts an integer right with its sign, by less than eight, of which ptxas may know that the sign is set, since
 * operations on bits have set it. ptxas 13.0 takes the result for not negative, on all architectures, at -O1 to -O3. nvcc
 * knows the sign too, unless it hid what sets it, or more than six operations do.
 *
 * Accepted are shifts of what is no copy of the result of an operation on bits that follows from `not`, a negative literal, one
 * that `or` sets or what is hidden, and shifts by other numbers.
 */
export function hasShiftedSigns(kernel: PtxKernel): boolean {
  const setsSign = (origin: PtxInstruction) =>
    isHidden(origin) ||
    origin.name === 'not' ||
    /, -\d/.test(origin.operands) ||
    (origin.name === 'or' && /, \d/.test(origin.operands))
  return kernel.instructions.some(
    ({ name, modifiers, operands, sources }) =>
      name === 'shr' &&
      modifiers === '.s32' &&
      /, [1-7]$/.test(operands) &&
      kernel
        .definedBy(kernel.copiedBy(sources))
        .some(
          (o) =>
            /^(?:and|lop3|not|or|shl|xor)$/.test(o.name) &&
            (setsSign(o) || kernel.hasOrigin(o.sources, setsSign)),
        ),
  )
}

/** Whether a register may be a copy of what selections or branches choose from values that ptxas may know. */
function isChosen(kernel: PtxKernel, register: string): boolean {
  return [...kernel.copiedBy([register])].some((copied) => {
    const choices = kernel.definedBy([copied])
    return (
      (choices.length > 1 || choices[0]?.name === 'selp') &&
      choices.every((choice) => isComputed(choice) && takesKnown(kernel, choice))
    )
  })
}

/** Whether ptxas may know all operands of an instruction but predicates. */
function takesKnown(kernel: PtxKernel, { sources }: PtxInstruction): boolean {
  return sources.every((source) => isPredicate(source) || kernel.mayBeKnown(source))
}

/**
 * Whether PTX compares two integers that it has joined bit by bit, and that are chosen by a predicate each, such as
 * `selp 1, 0`. If it combines the result with another predicate, ptxas 13.0 makes one instruction of all three
 * predicates (PLOP3), and loses the negations of the first two. On all architectures, at -O1 to -O3.
 *
 * Accepted are instructions in which no comparison has an operand that is computed, through bits, from two operands
 * that are both chosen, or computed from such a one alone, other than by a sum.
 */
export function hasJoinedSelections(kernel: PtxKernel): boolean {
  const { instructions, readers } = kernel
  const chosen = new Set<string>()
  const joined = new Set<string>()
  for (const instruction of instructions)
    if (instruction.name === 'selp' && takesKnown(kernel, instruction)) chosen.add(instruction.targets[0]!)
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

const opposites: Readonly<Record<string, string>> = { 'min.s': 'max.u', 'max.u': 'min.s' }

/** For example `min.s`. */
function kindOf({ name, modifiers }: PtxInstruction): string {
  return name + modifiers.slice(0, 2)
}
