import type { PtxInstruction, PtxKernel } from './ptx-instructions.ts'

/**
 * Whether a kernel loads through the read-only cache (`ld.global.nc`) what it has written before. nvcc 13.0 makes one
 * load of two at the ends of two branches, one of a read-only buffer and one of a buffer that the kernel writes, and
 * takes the address for that of the former: `if (c) { x = readOnly[i]; } else { x = written[i]; }`.
 *
 * Accepted are kernels in which no load of this kind, except for the prelude's, follows a write to a buffer from whose
 * address its own may be computed. A write of another invocation that is visible to the load stands before it in the
 * same way, since all run the same instructions.
 */
export function hasStaleLoads(kernel: PtxKernel): boolean {
  const { instructions } = kernel
  const writes = new Map<string, number[]>()
  for (const [at, instruction] of instructions.entries())
    for (const buffer of isWrite(instruction) ? parametersOf(instruction.sources, kernel) : [])
      writes.set(buffer, [...(writes.get(buffer) ?? []), at])
  const after = new Map<string, Uint8Array>()
  return instructions.some(({ name, modifiers, sources, isInline }, at) => {
    if (name !== 'ld' || !modifiers.includes('.nc') || isInline) return false
    return [...parametersOf(sources, kernel)].some((buffer) => {
      const starts = writes.get(buffer)
      if (starts === undefined) return false
      const found = after.get(buffer) ?? kernel.reached(starts, [])
      after.set(buffer, found)
      return found[at] === 1
    })
  })
}

/** What is stored as a parameter of a function may be an address, to which that function may write. */
function isWrite({ name, modifiers }: PtxInstruction): boolean {
  return /^(?:st|atom|red)$/.test(name) && !/\.(?:local|shared)/.test(modifiers)
}

/** The parameters of the kernel from which addresses of 64 bits may be computed; indices have 32 bits. */
function parametersOf(registers: readonly string[], kernel: PtxKernel): Set<string> {
  const found = new Set<string>()
  for (const { name, modifiers, operands } of kernel.originsOf(registers, isAddress))
    if (name === 'ld' && modifiers.startsWith('.param')) found.add(/\[.*?\]/.exec(operands)?.[0] ?? '')
  return found
}

function isAddress(register: string): boolean {
  return register.startsWith('%rd')
}
