import { mayUnrollCounts } from './counted-loops.ts'
import {
  hasConvertedSelections,
  hasExtremesOfBothSigns,
  hasJoinedSelections,
  hasLiteralOperands,
  hasOrderedSelections,
  hasShiftedSigns,
  hasSplitConstants,
} from './folded-constants.ts'
import {
  hasBytesOfChoices,
  hasComparedExtremes,
  hasConvertedParts,
  hasExtendedBytes,
  hasJoinedFields,
  hasMaskedHalves,
} from './narrow-integers.ts'
import { isComputed, isPredicate, kernelsOf, type PtxKernel } from './ptx-instructions.ts'
import { hasStaleAddresses } from './stale-addresses.ts'
import { hasStaleLoads } from './stale-loads.ts'
import { hasChangesOfKnownPredicates, hasStalePredicates } from './stale-predicates.ts'

/** A flag of an ELF section: it contains instructions. */
const executable = 4n
/** The type of an ELF section without contents. */
const withoutContents = 8

/** What NVRTC or nvcc makes of a kernel. */
export interface CompiledCode {
  readonly ptx: string
  /** Empty for a virtual architecture. */
  readonly cubin: Uint8Array
}

/** Whether code for the architecture is PTX, which the driver compiles. */
export function isVirtual(architecture: string): boolean {
  return architecture.startsWith('compute_')
}

/**
 * Whether nvcc may have written wrong PTX. Without `__restrict__`, and with less optimization (`--Ofast-compile`), it
 * writes other PTX.
 *
 * @param isHardlyOptimized - Whether the kernel was compiled with `--Ofast-compile=max`.
 */
export function mayBeWrong(ptx: string, isHardlyOptimized = false): boolean {
  return hasWrongParts(ptx, isHardlyOptimized) || kernelsOf(ptx).some(hasStaleLoads)
}

/**
 * Whether nvcc may have taken parts of integers for wider or narrower than they are. Accepted are the prelude's
 * instructions, which stand in assembler. See `mayBeWrong`.
 */
export function hasWrongParts(ptx: string, isHardlyOptimized = false): boolean {
  const text = ptx.replaceAll(/\/\/ begin inline asm$.*?^\s*\/\/ end inline asm/gms, '')
  return hasProductsOfParts(text) || (!isHardlyOptimized && hasPartsBeyondEnd(text))
}

/**
 * Whether PTX has one instruction, `dp2a` or `dp4a`, for products of signed parts of integers and their sum. They take
 * two halves or four bytes, and nvcc 13.0 does not extend the sign of narrower parts: `x.x * y.x + x.z * y.z` of two
 * `unpack4xI8` adds products of halves.
 */
function hasProductsOfParts(text: string): boolean {
  return /\bdp[24]a\b/.test(text)
}

/**
 * Whether PTX takes a signed part of an integer that may go beyond its last bit. For sm_100 and newer, with less
 * optimization, nvcc 13.0 takes a signed byte at bit 28 for the signed low byte of `x >> 28`, in which 0 follow. With
 * hardly any, it takes a part that begins at bit 31 for that sign, which is right.
 */
function hasPartsBeyondEnd(text: string): boolean {
  const parts = text.matchAll(/\bbfe\.s(32|64)\s+%\w+,\s*%\w+,\s*(\d+)?.*?,\s*(\d+)?.*?;/g)
  return [...parts].some(([, bits, position, width]) => !(Number(position) + Number(width) <= Number(bits)))
}

/**
 * Whether ptxas may have miscompiled a kernel, or, for a virtual architecture, the driver's may: accepted are PTX
 * of known instructions without those and without the addresses, constants, selections, fields, narrow integers, loops,
 * predicates and votes of which errors are known, and machine code without the instruction of which one is known.
 *
 * @param architecture - For example `sm_90`, or `compute_80`.
 */
export function mayBeMiscompiled({ ptx, cubin }: CompiledCode, architecture: string): boolean {
  if (ptx === '' || kernelsOf(ptx).some(mayBeMistaken)) return true
  return isVirtual(architecture)
    ? /\b(?:min|max)\.s32\b/.test(ptx)
    : hasSignedExtremesOfThree(cubin, architecture)
}

function mayBeMistaken(kernel: PtxKernel): boolean {
  return (
    !kernel.isKnown ||
    hasOverflowingSigns(kernel) ||
    hasMovableVotes(kernel) ||
    hasLiteralOperands(kernel) ||
    hasSplitConstants(kernel) ||
    hasExtremesOfBothSigns(kernel) ||
    hasJoinedSelections(kernel) ||
    hasOrderedSelections(kernel) ||
    hasConvertedSelections(kernel) ||
    hasShiftedSigns(kernel) ||
    hasJoinedFields(kernel) ||
    hasExtendedBytes(kernel) ||
    hasConvertedParts(kernel) ||
    hasMaskedHalves(kernel) ||
    hasComparedExtremes(kernel) ||
    hasBytesOfChoices(kernel) ||
    mayUnrollCounts(kernel) ||
    hasStaleAddresses(kernel) ||
    hasStalePredicates(kernel) ||
    hasChangesOfKnownPredicates(kernel)
  )
}

/**
 * Whether PTX has instructions whose results ptxas 13.0 takes for positive when they are not, on all
 * architectures: `abs` of the least value is that value, and a negation of -32768, or its difference from what ptxas
 * knows to be 0, is -32768 in 16 bits. A conversion to f32 or a remainder of the former is then wrong, and an
 * extension of the latter. Without optimization ptxas is right.
 *
 * Of the differences of 16 bits, those are accepted whose first operand follows from no literal, and those whose second
 * one follows from the first and literals, such as remainders: if ptxas knows the first, it computes the difference.
 */
export function hasOverflowingSigns(kernel: PtxKernel): boolean {
  const { instructions, definitions } = kernel
  const followsFrom = (register: string, first: string): boolean => {
    const parts = new Set([first, register])
    for (const part of parts) {
      const [at, ...others] = definitions.get(part) ?? []
      if (at === undefined || others.length > 0) return false
      if (part === first) continue
      if (!isComputed(instructions[at]!)) return false
      for (const source of instructions[at]!.sources) parts.add(source)
    }
    return true
  }
  return instructions.some(({ name, modifiers, sources: [from, other] }) => {
    if (name === 'abs') return modifiers.startsWith('.s')
    if (modifiers !== '.s16') return false
    if (name !== 'sub') return name === 'neg'
    if (from === undefined || other === undefined) return true
    return kernel.mayBeKnown(from) && !followsFrom(other, from)
  })
}

/**
 * Whether PTX has a vote with a predicate as its result that is read outside of the vote's basic block. ptxas 13.0
 * moves it into a branch that some lanes do not take, if that is the only place where it is read and several other
 * predicates are in use. Accepted are votes for numbers (`vote.sync.ballot`), and those that are read at once.
 */
export function hasMovableVotes(kernel: PtxKernel): boolean {
  const { instructions, definitions, readers } = kernel
  return instructions.some(({ name, targets: [result] }, at) => {
    if (name !== 'vote' || result === undefined || !isPredicate(result)) return false
    let end = at + 1
    while (end < instructions.length - 1 && !/^(?:bra|exit|ret)$/.test(instructions[end]!.name)) end++
    const later = kernel.reached([end], definitions.get(result)!)
    return (readers.get(result) ?? []).some((i) => later[i] === 1 && i !== end)
  })
}

/** The first architecture that has VIMNMX3. */
const architectureOfExtremes = 90

/**
 * Whether machine code has a signed VIMNMX3, the minimum or maximum of three integers. ptxas 13.0 makes it of
 * two `max.s32` or `min.s32` for sm_90, sm_100 and sm_103, and loses the negation if the second operand of the
 * inner one is `-x`, whatever it was computed as. Without this instruction, that cannot have happened; the
 * unsigned one keeps it.
 *
 * @param image - A cubin: an ELF file with 16 bytes for each instruction.
 * @param architecture - For example `sm_90`. The others that nvcc 13.0 compiles for have no such instruction.
 */
export function hasSignedExtremesOfThree(image: Uint8Array, architecture: string): boolean {
  if (Number(/\d+/.exec(architecture)?.[0] ?? 0) < architectureOfExtremes) return false
  const view = new DataView(image.buffer, image.byteOffset, image.byteLength)
  const isElf = image.byteLength >= 64 && view.getUint32(0) === 0x7f454c46
  if (!isElf) return false
  const sections = Number(view.getBigUint64(0x28, true))
  const sectionByteLength = view.getUint16(0x3a, true)
  const count = view.getUint16(0x3c, true)
  for (let section = sections; section < sections + count * sectionByteLength; section += sectionByteLength) {
    if (view.getUint32(section + 4, true) === withoutContents) continue
    if ((view.getBigUint64(section + 8, true) & executable) === 0n) continue
    const start = Number(view.getBigUint64(section + 24, true))
    const end = start + Number(view.getBigUint64(section + 32, true))
    // The opcode without the kind of its operands is in the lowest 9 of 128 bits; bit 72 makes it signed.
    for (let at = start; at + 16 <= end; at += 16)
      if ((view.getUint16(at, true) & 0x1ff) === 0x00f && (view.getUint8(at + 9) & 1) === 1) return true
  }
  return false
}
