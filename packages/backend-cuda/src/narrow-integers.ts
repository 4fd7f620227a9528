import type { PtxInstruction, PtxKernel } from './ptx-instructions.ts'

/**
 * Whether PTX inserts a field of an integer (`bfe`) into another one (`bfi`). If they are neighbours in one integer,
 * ptxas 13.0 takes both together, as if the position of the insertion were that in the integer. On all architectures,
 * at -O1 to -O3; nvcc writes `bfe` for sm_100 and newer.
 *
 * Accepted are insertions of which at most one operand is computed from a field.
 */
export function hasJoinedFields(kernel: PtxKernel): boolean {
  const isField = (source: string) => [...kernel.originsOf([source])].some(({ name }) => name === 'bfe')
  return kernel.instructions.some(({ name, sources }) => name === 'bfi' && sources.filter(isField).length > 1)
}

/**
 * Whether PTX extends the sign of a byte to 16 bits (`cvt.s8`), and then these to 32 bits without a sign. ptxas 13.0
 * may extend the sign to all of them. On all architectures, at -O1 to -O3; nvcc writes `cvt.s8` for sm_100 and newer.
 *
 * Accepted are such bytes, and copies of them, that no instruction reads as `.u16`.
 */
export function hasExtendedBytes({ instructions, readers }: PtxKernel): boolean {
  const isByte = ({ name, modifiers }: PtxInstruction) => name === 'cvt' && modifiers.startsWith('.s8')
  const bytes = new Set(instructions.filter(isByte).flatMap(({ targets }) => targets))
  for (const register of bytes)
    for (const i of readers.get(register) ?? []) {
      const { name, modifiers, targets } = instructions[i]!
      if (modifiers.endsWith('.u16')) return true
      if (name === 'mov' || (name === 'cvt' && modifiers === '.s16.s8'))
        for (const copy of targets) bytes.add(copy)
    }
  return false
}

/**
 * Whether PTX compares an extreme of integers of 16 bits. ptxas 13.0 gets `max(x, -128) == -128` wrong, for
 * example. On all architectures, at -O1 to -O3; nvcc writes `min.s16` and `max.s16` for sm_100 and newer.
 *
 * Accepted are comparisons of 16 bits with no operand that is computed from such an extreme.
 */
export function hasComparedExtremes(kernel: PtxKernel): boolean {
  const isExtreme = ({ name, modifiers }: PtxInstruction) =>
    /^m(?:in|ax)$/.test(name) && modifiers.endsWith('16')
  return kernel.instructions.some(
    ({ name, modifiers, sources }) =>
      name === 'setp' && modifiers.endsWith('16') && [...kernel.originsOf(sources)].some(isExtreme),
  )
}
