import { isComputed, isPredicate, type PtxInstruction, type PtxKernel } from './ptx-instructions.ts'

/** The modifiers of instructions that extend an operand. A constant in it cannot be added to the result instead. */
const extension = /\.wide\b|^\.[su]64\.[su](?:32|16|8)$|^\.[su]32\.[su](?:16|8)$/

/**
 * Whether PTX computes an address in workgroup memory from a register that has another value by the time of the
 * access. The compiler keeps a variable in one register before, in and after the loop in which it changes. ptxas
 * 13.0 may compute `b + 5` for an access after the loop, `wg[b + 5]`, where the access stands, of the register's
 * last value: it adds 20 to the address of `wg[b]`. nvcc's 32-bit addresses have this form; NVRTC extends indices
 * to 64 bits first, where the sum cannot be divided.
 *
 * Accepted are instructions in which no path leads from one that computes the address, or a part of it that is not
 * extended, through another definition of one of its operands, to the access, without passing that instruction
 * again.
 */
export function hasStaleAddresses(kernel: PtxKernel): boolean {
  const { instructions, definitions } = kernel
  /** For each operand that changes, and the instruction in an address that uses it, the accesses. */
  const uses = new Map<
    string,
    { readonly at: number; readonly operand: string; readonly accesses: number[] }
  >()
  for (const [access, { address }] of instructions.entries()) {
    const parts = new Set(address === undefined ? [] : [address])
    for (const part of parts) {
      const [at, ...others] = definitions.get(part) ?? []
      if (at === undefined || others.length > 0 || !isLinear(instructions[at]!)) continue
      for (const operand of instructions[at]!.sources) {
        // An address is no sum of predicates.
        if (isPredicate(operand)) continue
        if (definitions.get(operand)?.length === 1) parts.add(operand)
        else {
          const key = `${at} ${operand}`
          const use = uses.get(key) ?? { at, operand, accesses: [] }
          use.accesses.push(access)
          uses.set(key, use)
        }
      }
    }
  }
  return [...uses.values()].some(({ at, operand, accesses }) => {
    const changes = (definitions.get(operand) ?? []).filter((i) => i !== at)
    const before = kernel.reached([at], [at])
    const after = kernel.reached(
      changes.filter((i) => before[i] === 1),
      [at],
    )
    return accesses.some((access) => after[access] === 1)
  })
}

/** Whether ptxas may compute it again, with a constant in an operand added to the result instead. */
function isLinear(instruction: PtxInstruction): boolean {
  return isComputed(instruction) && !extension.test(instruction.modifiers)
}
