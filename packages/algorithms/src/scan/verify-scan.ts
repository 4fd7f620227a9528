import type { DeviceGroup, ElementArray } from '@tandem-gpu/core'
import { type ElementSource, readElements, streamChunkLength } from '../element-source.ts'
import { gatherNumbers } from '../gather-numbers.ts'
import {
  bitsOfValue,
  emptyPart,
  finite,
  joinParts,
  lost,
  more,
  type PartialReduction,
  reducePart,
} from '../reduction/reference-reduction.ts'
import type { Verification } from '../report.ts'
import type { ShardedMatrix } from '../sharded-matrix.ts'
import { type ScanOperation, type ScanType, scanDepth } from './scan-kernels.ts'

/** The parameters of the scan. */
export interface ScanProblem<T extends ScanType = ScanType> {
  readonly type: T
  readonly operation: ScanOperation
  readonly exclusive: boolean
  readonly length: number
}

/** The number of wrong elements, and the largest absolute error. */
type Found = readonly [wrong: number, maxError: number]

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
  const own = new Map<number, PartialReduction>()
  for (const [index, { device, row, rows }] of slices.entries())
    if (device.local) own.set(index, await reducePart(source, problem, row, rows))
  const parts = await gatherNumbers(group, group.devices, 3, (index) => own.get(index))

  const found = new Map<number, Found>()
  let before = emptyPart(problem)
  for (const [index, { device, row, rows, view }] of slices.entries()) {
    if (device.local) {
      const check = new ScanCheck(problem, before)
      for (let offset = 0; offset < rows; offset += streamChunkLength) {
        const count = Math.min(streamChunkLength, rows - offset)
        const given = await readElements(source, problem.type, row + offset, count)
        const result = await group.queue.read(view.reshape(1, rows).slice(offset, count), { to: 'owner' })
        check.compare(given, result!)
      }
      found.set(index, [check.wrong, check.maxError])
    }
    const [value, compensation, absoluteSum] = parts.subarray(3 * index, 3 * index + 3)
    before = joinParts(problem, before, [value!, compensation!, absoluteSum!])
  }
  const all = await gatherNumbers(group, group.devices, 2, (index) => found.get(index))
  let [wrong, maxError] = [0, 0]
  for (let at = 0; at < all.length; at += 2) {
    wrong += all[at]!
    maxError = Math.max(maxError, all[at + 1]!)
  }
  const { type, operation, exclusive, length } = problem
  const summed = `the elements ${exclusive ? 'before' : 'up to'} it`
  const rule =
    type === 'f32' && operation === 'sum'
      ? `within the bound of ${scanDepth(length)} roundings, γ·Σ|x|, of the f64 sum of ${summed}`
      : `the exact ${operation} of ${summed}, bit for bit`
  return {
    checked: true,
    verified: wrong === 0,
    verification: wrong === 0 ? `every element is ${rule}` : `${wrong} of ${length} elements are not ${rule}`,
    maxError,
  }
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
  #index = 0

  constructor(problem: ScanProblem, [value, compensation, absoluteSum]: PartialReduction) {
    this.#problem = problem
    this.#value = value
    this.#compensation = compensation
    this.#absoluteSum = absoluteSum
  }

  compare(given: ElementArray, result: ElementArray): void {
    const { type, operation } = this.#problem
    if (type === 'f32' && operation === 'sum') this.#compareSums(given, result)
    else this.#compareBits(given, result)
  }

  #compareBits(given: ElementArray, result: ElementArray): void {
    const { type, operation, exclusive } = this.#problem
    const bits = new Uint32Array(result.buffer, result.byteOffset, result.length)
    for (let i = 0; i < given.length; i++) {
      const before = this.#value
      this.#value = operation === 'sum' ? (before + given[i]!) | 0 : more(operation, before, given[i]!)
      const expected = exclusive ? before : this.#value
      if (bits[i] === bitsOfValue(type, expected)) continue
      this.#count(Math.abs(result[i]! - (type === 'u32' ? expected >>> 0 : expected)))
    }
  }

  #compareSums(given: ElementArray, result: ElementArray): void {
    const { exclusive, length } = this.#problem
    const rounding = scanDepth(length) * 2 ** -24
    const gamma = rounding / (1 - rounding)
    for (let i = 0; i < given.length; i++) {
      if (exclusive) this.#compareSum(result[i]!, gamma)
      const value = given[i]!
      const next = this.#value + value
      this.#compensation += lost(this.#value, value, next)
      this.#absoluteSum += Math.abs(value)
      this.#value = next
      this.#index++
      if (!exclusive) this.#compareSum(result[i]!, gamma)
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
    if (error <= gamma * absoluteSum + this.#index * 2 ** -126) this.maxError = Math.max(this.maxError, error)
    else this.#count(error)
  }

  #count(error: number): void {
    this.wrong++
    this.maxError = Math.max(this.maxError, finite(error))
  }
}
