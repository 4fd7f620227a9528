import { isHidden, type PtxInstruction, type PtxKernel } from './ptx-instructions.ts'

/**
 * Whether PTX inserts a field of an integer (`bfe`) into another one (`bfi`). If they are neighbours in one integer,
 * ptxas 13.0 takes both together, as if the position of the insertion were that in the integer. On all architectures,
 * at -O1 to -O3; nvcc writes `bfe` for sm_100 and newer.
 *
 * Accepted are insertions of which at most one operand is computed from a field.
 */
export function hasJoinedFields(kernel: PtxKernel): boolean {
  const isField = (source: string) => kernel.hasOrigin([source], ({ name }) => name === 'bfe')
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
 * Whether PTX converts a signed part of an integer (`bfe.s32`) to a float as an unsigned integer. ptxas 13.0 converts a
 * byte or a half with its sign. On all architectures, at -O1 to -O3; nvcc writes `bfe` for sm_100 and newer.
 *
 * Accepted are conversions of integers that are no copies of such parts.
 */
export function hasConvertedParts(kernel: PtxKernel): boolean {
  const isPart = ({ name, modifiers }: PtxInstruction) => name === 'bfe' && modifiers.startsWith('.s')
  return kernel.instructions.some(
    ({ name, modifiers, sources }) =>
      name === 'cvt' &&
      /\.f\d+\.u\d+$/.test(modifiers) &&
      kernel.definedBy(kernel.copiedBy(sources)).some(isPart),
  )
}

/**
 * Whether PTX takes bits of an f16 that it has converted from an f32. Where they become the low half of 32 bits, ptxas
 * 13.0 leaves out a mask that it knows. On all architectures, at -O1 to -O3.
 *
 * Accepted are masks and fields of what is no copy of such a conversion, also by another mask.
 */
export function hasMaskedHalves(kernel: PtxKernel): boolean {
  const isMask = ({ name, modifiers }: PtxInstruction) =>
    /^(?:and|bfe|lop3|prmt)$/.test(name) || (name === 'cvt' && /\.[bsu]8/.test(modifiers))
  const isHalf = ({ name, modifiers }: PtxInstruction) => name === 'cvt' && modifiers.endsWith('.f16.f32')
  return kernel.instructions
    .filter(isMask)
    .some(({ sources }) => kernel.definedBy(kernel.copiedBy(sources, isMask)).some(isHalf))
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
      name === 'setp' && modifiers.endsWith('16') && kernel.hasOrigin(sources, isExtreme),
  )
}

/**
 * Whether PTX takes bytes of integers that it has put together, and a condition chooses one of these too. ptxas 13.0
 * may take the bytes of that one alone, where they are used, although its register may have the chosen value by then.
 * On all architectures, at -O1 to -O3.
 *
 * Accepted are integers put together without `prmt` and without what is hidden from nvcc, in which nvcc takes the bytes
 * of one by itself, and those that are set once, and of which no copy is chosen or set where others are.
 */
export function hasBytesOfChoices(kernel: PtxKernel): boolean {
  const { definitions, instructions } = kernel
  const isSetAgain = (register: string) => definitions.get(register)!.length > 1
  const choices = instructions.flatMap(({ name, condition, targets, sources }) =>
    name === 'selp' ? sources : condition !== undefined || targets.some(isSetAgain) ? targets : [],
  )
  const chosen = kernel.copiedBy(choices)
  return instructions.filter(takesBytes).some(({ sources }) => {
    const origins = kernel.definedBy(kernel.copiedBy(sources, joins))
    return (
      origins.some((origin) => origin.name === 'prmt' || isHidden(origin)) &&
      origins.some(
        (o) => joins(o) && [...kernel.copiedBy(o.sources)].some((register) => chosen.has(register)),
      )
    )
  })
}

/** Whether an instruction may put bytes of integers together. */
function joins({ name }: PtxInstruction): boolean {
  return /^(?:add|bfi|lop3|mad|or|prmt|xor)$/.test(name)
}

/** Whether the result of an instruction, or what it stores, may be bytes of an integer, with zeros in place of others. */
function takesBytes({ name, modifiers, operands }: PtxInstruction): boolean {
  if (name === 'mov') return operands.startsWith('{')
  if (name === 'cvt' || name === 'st')
    return /\.[bsu](?:8|16)\b/.test(modifiers) && /[,{]\s*%rd?\d/.test(operands)
  if (name === 'and') return /, (?:255|65535|16777215|16711935)$/.test(operands)
  return name === 'bfe' || name === 'lop3'
}
