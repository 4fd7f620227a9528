import { isPredicate, type PtxInstruction, type PtxKernel } from './ptx-instructions.ts'

/**
 * Whether PTX has a loop that may end at the negation of an integer. Where ptxas 13.0 unrolls such a loop, by four, it
 * takes the integer itself for the bound of the four rounds and for how many are left, on all architectures:
 * `for (var k = 10i; k > 0i - x; k -= 5i) {}`. nvcc unrolls most loops with steps of 1 before.
 *
 * Accepted are loops that ptxas must not unroll, and those that are not left by a comparison of what follows from what
 * they change, as a counter does, with another integer that may be a negation.
 */
export function hasNegatedBounds(kernel: PtxKernel): boolean {
  const { instructions, definitions, keptLoops } = kernel
  return instructions.some(({ name, next: [start = Number.POSITIVE_INFINITY] }, end) => {
    if (name !== 'bra' || start > end || keptLoops.has(start)) return false
    const isInside = (i: number): boolean => i >= start && i <= end
    const isChanged = (register: string): boolean =>
      (definitions.get(register) ?? []).some(
        (i) => isInside(i) && [...kernel.partsOf(instructions[i]!.sources)].includes(register),
      )
    const exits = instructions
      .slice(start, end + 1)
      .filter(({ name, next }) => name === 'bra' && !next.every(isInside))
      .flatMap(({ condition }) => condition ?? [])
    return [...kernel.originsOf(exits, isPredicate)].some(({ name, modifiers, sources }) => {
      if (name !== 'setp' || /\.b?f/.test(modifiers)) return false
      const compared = sources.filter((register) => !isPredicate(register))
      const bounds = compared.filter((register) => ![...kernel.partsOf([register])].some(isChanged))
      if (bounds.length === compared.length) return false
      return [...kernel.originsOf(bounds, isInteger)].some((origin) => mayNegate(origin, kernel))
    })
  })
}

/** Registers of 16 bits are named `%rs1`; hasOverflowingSigns finds their negations. */
function isInteger(register: string): boolean {
  return /^%rd?\d/.test(register)
}

/** Whether the result may be the negation of an operand, whatever ptxas knows of the others. */
function mayNegate({ name, modifiers, operands }: PtxInstruction, kernel: PtxKernel): boolean {
  if (/\.b?f/.test(modifiers)) return false
  const [, first = '', ...others] = operands.split(/,\s*/)
  if (name === 'sub') return mayBe('0', first, kernel)
  if (name === 'mul' || name === 'mad')
    return [first, ...others].some((operand) => mayBe('-1', operand, kernel))
  return name === 'neg' || name === 'not'
}

/** Whether an operand may be a literal. Of a register that only has one from `mov`, it is known which. */
function mayBe(literal: string, operand: string, kernel: PtxKernel): boolean {
  const [at = -1, ...others] = kernel.definitions.get(operand) ?? []
  const only = others.length === 0 ? kernel.instructions[at] : undefined
  const known = only?.name === 'mov' ? only.operands.replace(/^.*,\s*/, '') : operand
  return /^-?\d/.test(known) ? known === literal : kernel.mayBeLiteral(operand)
}
