import { mayUnrollCounts } from './counted-loops.ts'
import { hasSignedExtremesOfThree } from './extremes.ts'
import {
  hasConvertedSelections,
  hasJoinedSelections,
  hasShiftedSigns,
  hasSplitConstants,
} from './folded-constants.ts'
import { hasLateLiterals, KnownValues } from './known-values.ts'
import {
  hasBytesOfChoices,
  hasComparedExtremes,
  hasConvertedParts,
  hasExtendedBytes,
  hasJoinedFields,
  hasMaskedHalves,
} from './narrow-integers.ts'
import { isPredicate, kernelsOf, type PtxKernel } from './ptx-instructions.ts'
import { hasStaleAddresses } from './stale-addresses.ts'
import { hasStaleLoads } from './stale-loads.ts'
import { hasChangesOfKnownPredicates, hasStalePredicates } from './stale-predicates.ts'
import { hasTwinPredicates } from './twin-predicates.ts'
import { isZero } from './value-facts.ts'

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
 * predicates and votes of which errors are known, and machine code without the instructions of which errors are known.
 *
 * @param architecture - For example `sm_90`, or `compute_80`.
 */
export function mayBeMiscompiled({ ptx, cubin }: CompiledCode, architecture: string): boolean {
  const kernels = kernelsOf(ptx)
  if (ptx === '' || kernels.some(mayBeMistaken)) return true
  return isVirtual(architecture)
    ? /\b(?:min|max)\.s32\b/.test(ptx)
    : hasSignedExtremesOfThree(cubin, architecture)
}

function mayBeMistaken(kernel: PtxKernel): boolean {
  if (!kernel.isKnown) return true
  const values = new KnownValues(kernel)
  return (
    hasLateLiterals(kernel, values) ||
    hasOverflowingSigns(kernel, values) ||
    hasMovableVotes(kernel) ||
    hasSplitConstants(kernel, values) ||
    hasJoinedSelections(kernel, values) ||
    hasConvertedSelections(kernel, values) ||
    hasShiftedSigns(kernel, values) ||
    hasJoinedFields(kernel) ||
    hasExtendedBytes(kernel) ||
    hasConvertedParts(kernel) ||
    hasMaskedHalves(kernel) ||
    hasComparedExtremes(kernel) ||
    hasBytesOfChoices(kernel) ||
    mayUnrollCounts(kernel) ||
    hasStaleAddresses(kernel) ||
    hasStalePredicates(kernel) ||
    hasChangesOfKnownPredicates(kernel) ||
    hasTwinPredicates(kernel)
  )
}

/**
 * Whether PTX has instructions whose results ptxas 13.0 takes for positive when they are not, on all
 * architectures: `abs` of the least value is that value, and a negation of -32768, or its difference from what ptxas
 * knows to be 0, is -32768 in 16 bits. A conversion to f32 or a remainder of the former is then wrong, and an
 * extension of the latter. Without optimization ptxas is right.
 */
export function hasOverflowingSigns({ instructions }: PtxKernel, values: KnownValues): boolean {
  return instructions.some(({ name, modifiers, inputs: [from = ''] }) => {
    if (name === 'abs') return modifiers.startsWith('.s')
    if (modifiers !== '.s16') return false
    if (name !== 'sub') return name === 'neg'
    const known = values.of(from)
    return !from.startsWith('%') || (known !== undefined && isZero(known))
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
