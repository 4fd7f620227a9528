import type { DeviceGroup, ElementArray } from '@tandem-gpu/core'
import { type ElementSource, readElements } from '../element-source.ts'
import { gatherFromPieces } from '../gather-numbers.ts'
import {
  bitsOfValue,
  emptyPart,
  finite,
  joinParts,
  lost,
  more,
  type PartialReduction,
  type ReductionProblem,
  reduceSlices,
} from '../reduction/reference-reduction.ts'
import { type Verification, verdict } from '../report.ts'
import type { ShardedMatrix } from '../sharded-matrix.ts'
import { type ScanType, scanDepth } from './scan-kernels.ts'

/** The parameters of the scan. */
export interface ScanProblem<T extends ScanType = ScanType> extends ReductionProblem {
  readonly type: T
  readonly exclusive: boolean
}

const largest = 3.4028234663852886e38

/**
 * Compares every element with the result on the CPU: integers, minima and maxima bit for bit, sums of f32
 * within |error| <= γ_k Σ|x| of the f64 sum (Higham 2002, §4.2). Each process reads the source for the
 * elements of its devices twice: to combine them, and to compare the results.
 */
export async function verifyScan<T extends ScanType>(
  group: DeviceGroup,
  source: ElementSource<T>,
  problem: ScanProblem<T>,
  output: ShardedMatrix<T>,
): Promise<Verification> {
  const parts = await reduceSlices(group, source, problem, output.slices)
  let before = emptyPart(problem)
  const checks = parts.map((part) => {
    const check = checkFrom(problem, before)
    before = joinParts(problem, before, part)
    return check
  })
  const found = await gatherFromPieces(group, output, 2, async ({ index, at, count, read }, result) =>
    checks[index]!(await readElements(source, problem.type, at, count), await read(), result),
  )
  const wrong = found.reduce((sum, [count]) => sum + count!, 0)
  const maxError = Math.max(...found.map(([, error]) => error!))
  const { type, operation, exclusive, length } = problem
  const summed = `the elements ${exclusive ? 'before' : 'up to'} it`
  const rule =
    type === 'f32' && operation === 'sum'
      ? `within the bound of ${scanDepth(length)} roundings, γ·Σ|x|, of the f64 sum of ${summed}`
      : `the exact ${operation} of ${summed}, bit for bit`
  if (wrong > 0) return verdict(false, `${wrong} of ${length} elements are not ${rule}`, maxError)
  return verdict(true, `every element is ${rule}`, maxError)
}

/**
 * Compares consecutive elements, starting from the result for all elements before the first. Adds to the
 * number of wrong ones, which `found` begins with, and to the largest error, which follows.
 */
function checkFrom({ type, operation, exclusive, length }: ScanProblem, before: PartialReduction) {
  const isRounded = type === 'f32' && operation === 'sum'
  const rounding = scanDepth(length) * 2 ** -24
  const gamma = rounding / (1 - rounding)
  let [value, compensation, absoluteSum] = before
  let added = 0
  /** Whether the magnitudes exceed f32, so that sums of them may. */
  let mayOverflow = false

  function add(element: number): void {
    added++
    if (operation !== 'sum') value = more(operation, value, element)
    else if (type !== 'f32') value = (value + element) | 0
    else {
      const sum = value + element
      compensation += lost(value, element, sum)
      absoluteSum += Math.abs(element)
      value = sum
    }
  }

  /** The error of a rounded sum, NaN if it is infinite. */
  function errorOf(result: number): number {
    if (absoluteSum * (1 + gamma) >= largest && absoluteSum !== Number.POSITIVE_INFINITY) mayOverflow = true
    if (mayOverflow && !Number.isFinite(result)) return 0
    if (!Number.isFinite(value)) return Object.is(result, value) ? 0 : Number.NaN
    return Math.abs(result - (value + compensation))
  }

  return (given: ElementArray, result: ElementArray, found: Float64Array) => {
    const bits = new Uint32Array(result.buffer, result.byteOffset, result.length)
    for (let i = 0; i < given.length; i++) {
      if (!exclusive) add(given[i]!)
      let error = isRounded ? errorOf(result[i]!) : 0
      // The second term: implementations may flush subnormal sums to zero, each below 2^-126.
      const isRight = isRounded
        ? error <= gamma * absoluteSum + added * 2 ** -126
        : bits[i] === bitsOfValue(type, value)
      if (!isRight) found[0]!++
      if (!isRight && !isRounded) error = Math.abs(result[i]! - (type === 'u32' ? value >>> 0 : value))
      found[1] = Math.max(found[1]!, finite(error))
      if (exclusive) add(given[i]!)
    }
  }
}
