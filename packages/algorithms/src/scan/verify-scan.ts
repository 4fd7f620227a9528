import { type DeviceGroup, type ElementArray, ranges } from '@tandem-gpu/core'
import { type ElementSource, readElements, streamChunkLength } from '../element-source.ts'
import { gatherFromSlices } from '../gather-numbers.ts'
import {
  bitsOfValue,
  emptyPart,
  finite,
  joinParts,
  lost,
  more,
  type PartialReduction,
  reduceSlices,
} from '../reduction/reference-reduction.ts'
import { type Verification, verdict } from '../report.ts'
import type { ShardedMatrix } from '../sharded-matrix.ts'
import { type ScanOperation, type ScanType, scanDepth } from './scan-kernels.ts'

/** The parameters of the scan. */
export interface ScanProblem<T extends ScanType = ScanType> {
  readonly type: T
  readonly operation: ScanOperation
  readonly exclusive: boolean
  readonly length: number
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
  { slices }: ShardedMatrix<T>,
): Promise<Verification> {
  const parts = await reduceSlices(group, source, problem, slices)
  const found = await gatherFromSlices(group, slices, 2, async ({ row, rows, view }, index) => {
    const before = parts
      .slice(0, index)
      .reduce((all, part) => joinParts(problem, all, part), emptyPart(problem))
    const check = new ScanCheck(problem, before)
    for (const { first, count } of ranges(rows, streamChunkLength)) {
      const given = await readElements(source, problem.type, row + first, count)
      const result = await group.queue.read(view.reshape(1, rows).slice(first, count), { to: 'owner' })
      check.compare(given, result!)
    }
    return [check.wrong, check.maxError]
  })
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

/** Compares consecutive elements, starting from the result for all elements before the first. */
class ScanCheck {
  wrong = 0
  maxError = 0
  readonly #problem: ScanProblem
  #value: number
  #compensation: number
  #absoluteSum: number
  /** Whether the magnitudes exceed f32, so that sums of them may. */
  #mayOverflow = false
  #added = 0

  constructor(problem: ScanProblem, [value, compensation, absoluteSum]: PartialReduction) {
    this.#problem = problem
    this.#value = value
    this.#compensation = compensation
    this.#absoluteSum = absoluteSum
  }

  compare(given: ElementArray, result: ElementArray): void {
    const bits = new Uint32Array(result.buffer, result.byteOffset, result.length)
    const { type, operation, exclusive, length } = this.#problem
    const isRounded = type === 'f32' && operation === 'sum'
    const rounding = scanDepth(length) * 2 ** -24
    const gamma = rounding / (1 - rounding)
    for (let i = 0; i < given.length; i++) {
      if (!exclusive) this.#add(given[i]!)
      if (isRounded) this.#compareSum(result[i]!, gamma)
      else if (bits[i] !== bitsOfValue(type, this.#value))
        this.#count(Math.abs(result[i]! - (type === 'u32' ? this.#value >>> 0 : this.#value)))
      if (exclusive) this.#add(given[i]!)
    }
  }

  #add(value: number): void {
    const { type, operation } = this.#problem
    const before = this.#value
    this.#added++
    if (operation !== 'sum') this.#value = more(operation, before, value)
    else if (type !== 'f32') this.#value = (before + value) | 0
    else {
      this.#value = before + value
      this.#compensation += lost(before, value, this.#value)
      this.#absoluteSum += Math.abs(value)
    }
  }

  #compareSum(result: number, gamma: number): void {
    const absoluteSum = this.#absoluteSum
    if (absoluteSum * (1 + gamma) >= largest && absoluteSum !== Number.POSITIVE_INFINITY)
      this.#mayOverflow = true
    if (this.#mayOverflow && !Number.isFinite(result)) return
    const exact = this.#value
    if (!Number.isFinite(exact)) {
      if (!Object.is(result, exact)) this.#count(Number.MAX_VALUE)
      return
    }
    const error = Math.abs(result - (exact + this.#compensation))
    // The second term: implementations may flush subnormal sums to zero, each below 2^-126.
    if (error <= gamma * absoluteSum + this.#added * 2 ** -126) this.maxError = Math.max(this.maxError, error)
    else this.#count(error)
  }

  #count(error: number): void {
    this.wrong++
    this.maxError = Math.max(this.maxError, finite(error))
  }
}
