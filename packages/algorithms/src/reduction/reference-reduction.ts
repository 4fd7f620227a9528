import type { DeviceGroup } from '@tandem-gpu/core'
import { type ElementSource, readElements, streamChunkLength } from '../element-source.ts'
import { gatherFromSlices } from '../gather-numbers.ts'
import type { Verification } from '../report.ts'
import type { MatrixSlice } from '../sharded-matrix.ts'
import { identityValue } from './record-reduction.ts'
import {
  type ReductionKernelName,
  type ReductionOperation,
  type ReductionType,
  reductionDepth,
} from './reduction-kernels.ts'

export interface ReductionProblem {
  readonly type: ReductionType
  readonly operation: ReductionOperation
  readonly length: number
}

/** The result computed on the CPU. */
export interface ReductionReference {
  /** Exact for integers, minimum and maximum; the compensated f64 sum for f32. */
  readonly value: number
  /** Bits of the exact result in its type; absent for f32 sums. */
  readonly bits?: number
  /** Sum of |x|, for the error bound of f32 sums. */
  readonly absoluteSum: number
}

/**
 * The result for some of the elements: a sum and its compensation, or the minimum or maximum; and the sum of
 * |x| for f32.
 */
export type PartialReduction = readonly [value: number, compensation: number, absoluteSum: number]

/**
 * Streams elements `[first, first + length)` of the source once. Integer sums wrap modulo 2^32; minimum and
 * maximum of f32 propagate NaN (the result is the quiet NaN 0x7fc00000) and order -0 before +0; f32 sums
 * accumulate in f64 with Neumaier's compensation.
 */
export async function reducePart<T extends ReductionType>(
  source: ElementSource<T>,
  { type, operation }: ReductionProblem & { readonly type: T },
  first: number,
  length: number,
): Promise<PartialReduction> {
  let wrapped = 0
  let extreme = identityValue({ type, operation })
  let sum = 0
  let compensation = 0
  let absoluteSum = 0
  for (let offset = 0; offset < length; offset += streamChunkLength) {
    const count = Math.min(streamChunkLength, length - offset)
    const data = await readElements(source, type, first + offset, count)
    if (operation !== 'sum') {
      for (let index = 0; index < count; index++) extreme = more(operation, extreme, data[index]!)
    } else if (type === 'f32') {
      for (let index = 0; index < count; index++) {
        const value = data[index]!
        absoluteSum += Math.abs(value)
        const next = sum + value
        compensation += lost(sum, value, next)
        sum = next
      }
    } else {
      for (let index = 0; index < count; index++) wrapped = (wrapped + data[index]!) | 0
    }
  }
  if (operation !== 'sum') return [extreme, 0, 0]
  return type === 'f32' ? [sum, compensation, absoluteSum] : [wrapped, 0, 0]
}

/** The result for each slice, in every process; each process reads the elements of its devices' slices. */
export async function reduceSlices<T extends ReductionType>(
  group: DeviceGroup,
  source: ElementSource<T>,
  problem: ReductionProblem & { readonly type: T },
  slices: readonly MatrixSlice<T>[],
): Promise<PartialReduction[]> {
  const found = await gatherFromSlices(group, slices, 3, ({ row, rows }) =>
    reducePart(source, problem, row, rows),
  )
  return found.map(([value, compensation, absoluteSum]) => [value!, compensation!, absoluteSum!])
}

/** Combines the results of two consecutive parts. */
export function joinParts(
  { type, operation }: Pick<ReductionProblem, 'type' | 'operation'>,
  [value, compensation, absoluteSum]: PartialReduction,
  [nextValue, nextCompensation, nextAbsoluteSum]: PartialReduction,
): PartialReduction {
  if (operation !== 'sum') return [more(operation, value, nextValue), 0, 0]
  if (type !== 'f32') return [(value + nextValue) | 0, 0, 0]
  const sum = value + nextValue
  const lostHere = lost(value, nextValue, sum)
  return [sum, compensation + (nextCompensation + lostHere), absoluteSum + nextAbsoluteSum]
}

/** The result for no elements. */
export function emptyPart(problem: Pick<ReductionProblem, 'type' | 'operation'>): PartialReduction {
  return [identityValue(problem), 0, 0]
}

/** Combines the results of all parts, in order. */
export function combineParts(
  problem: ReductionProblem,
  parts: readonly PartialReduction[],
): ReductionReference {
  const { type, operation } = problem
  const [value, compensation, absoluteSum] = parts.reduce(
    (all, part) => joinParts(problem, all, part),
    emptyPart(problem),
  )
  if (operation === 'sum' && type === 'f32')
    // Infinities make the compensation NaN. The plain sum is right for them.
    return { value: Number.isFinite(value) ? value + compensation : value, absoluteSum }
  const exact = operation === 'sum' && type === 'u32' ? value >>> 0 : value
  return { value: exact, bits: bitsOfValue(type, exact), absoluteSum: 0 }
}

/** The rounding error of `next`, the rounded `sum` + `value` (Neumaier 1974). */
export function lost(sum: number, value: number, next: number): number {
  return Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum
}

/**
 * Checks a result (as bits of its type) against the reference. For f32 sums, requires |error| <= γ_k Σ|x|,
 * Higham 2002, §4.2.
 */
export function verifyReduction(
  kernel: ReductionKernelName,
  problem: ReductionProblem,
  reference: ReductionReference,
  bits: number,
): Verification {
  const value = valueOfBits(problem.type, bits)
  if (reference.bits !== undefined) {
    const verified = reference.bits === bits
    return {
      checked: true,
      verified,
      verification: verified
        ? `equals the exact ${problem.operation}, bit for bit`
        : `differs from the exact ${problem.operation} ${reference.value}`,
      maxError: verified ? 0 : finite(Math.abs(value - reference.value)),
    }
  }
  if (Number.isNaN(reference.value) || Math.abs(reference.value) === Number.POSITIVE_INFINITY) {
    const verified = Object.is(value, reference.value)
    return {
      checked: true,
      verified,
      verification: `the input is not finite: the sum must be ${reference.value}`,
      maxError: verified ? 0 : Number.MAX_VALUE,
    }
  }
  const depth = reductionDepth(kernel, problem.length)
  const unit = 2 ** -24
  const gamma = (depth * unit) / (1 - depth * unit)
  // The second term: implementations may flush denormal partial sums to zero, each below 2^-126.
  const bound = gamma * reference.absoluteSum + problem.length * 2 ** -126
  const largest = 3.4028234663852886e38
  if (reference.absoluteSum * (1 + gamma) >= largest && !Number.isFinite(value))
    return {
      checked: true,
      verified: true,
      verification: `the magnitudes sum to ${reference.absoluteSum}: partial sums may exceed f32, and did`,
      maxError: Number.MAX_VALUE,
    }
  const error = Math.abs(value - reference.value)
  return {
    checked: true,
    verified: error <= bound,
    verification: `within ${bound.toExponential(2)} (the bound of ${depth} roundings, γ·Σ|x|) of the f64 sum`,
    maxError: finite(error),
  }
}

/** Compares a value with the running minimum or maximum. The result is NaN if either is; -0 < +0. */
export function more(operation: ReductionOperation, best: number, value: number): number {
  if (Number.isNaN(best) || Number.isNaN(value)) return Number.NaN
  return operation === 'min' ? Math.min(best, value) : Math.max(best, value)
}

const scratch = new DataView(new ArrayBuffer(4))

/** The 32-bit pattern of a value of the type, as an unsigned number; NaN is 0x7fc00000. */
export function bitsOfValue(type: ReductionType, value: number): number {
  if (type === 'f32') {
    if (Number.isNaN(value)) return 0x7fc00000
    scratch.setFloat32(0, value)
  } else scratch.setInt32(0, value)
  return scratch.getUint32(0)
}

export function valueOfBits(type: ReductionType, bits: number): number {
  scratch.setUint32(0, bits)
  return type === 'f32' ? scratch.getFloat32(0) : type === 'i32' ? scratch.getInt32(0) : bits
}

/** JSON has no infinities. */
export function finite(value: number): number {
  return Number.isFinite(value) ? value : Number.MAX_VALUE
}

/** Reads one element's bits without converting them: NaN payloads survive. */
export async function readBits(
  group: DeviceGroup,
  view: Parameters<DeviceGroup['queue']['read']>[0],
): Promise<number> {
  const data = await group.queue.read(view)
  return new Uint32Array(data.buffer, data.byteOffset, 1)[0]!
}
