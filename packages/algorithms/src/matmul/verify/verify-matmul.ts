import type { Device, DeviceGroup, ElementArray } from '@tandem-gpu/core'
import { type ElementSource, readElements } from '../../element-source.ts'
import { gatherNumbers } from '../../gather-numbers.ts'
import type { Verification } from '../../report.ts'
import { splitRows } from '../../sharded-matrix.ts'
import type { MatmulShape, MatmulType } from '../matmul-shape.ts'
import { splitErrorFactor } from '../tensor/split-kernels.ts'
import { multiplyFloats, vectorCount } from './multiply-floats.ts'

/** Unit roundoff of f32. */
const u = 2 ** -24

/** Products up to this many multiplications, with B up to 2^24 elements, are checked element by element. */
const fullCheckOperations = 2 ** 28

/** The largest error that was found, and the largest ratio of an error to the allowed error. */
export interface Worst {
  maxError: number
  worst: number
}

/** Receives rows of C in any order, then returns whether they are correct. */
export interface MatmulVerifier {
  rows(first: number, data: ElementArray<MatmulType>): Promise<void>
  /** For the rows received so far. */
  readonly found: Worst
  /** The result for the rows received so far, or for `found`, which combines all processes. */
  result(found?: Worst): Verification
}

/** The devices between which the work is divided. */
export interface Checkers {
  readonly group: DeviceGroup
  readonly devices: readonly Device[]
}

export interface MatmulVerifierOptions {
  /** Whether products are computed from f16 parts. Default false. */
  readonly split?: boolean | undefined
  /**
   * With several processes: each reads the rows of B that its devices hold, for Freivalds' algorithm.
   * Default: this process reads all of B.
   */
  readonly checkers?: Checkers | undefined
  /** Whether every element is checked. Default: true if the product is small. */
  readonly everyElement?: boolean | undefined
}

/** Whether a product is small enough for a check of every element. */
export function isSmallProduct({ m, n, k }: MatmulShape): boolean {
  return m * n * k <= fullCheckOperations && k * n <= 2 ** 24
}

/** Takes one more error into account; a `ratio` to its bound that is NaN counts as too large. */
export function addError(found: Worst, error: number, ratio: number): void {
  found.maxError = Math.max(found.maxError, error)
  found.worst = Number.isNaN(ratio) ? Number.POSITIVE_INFINITY : Math.max(found.worst, ratio)
}

/** What was found, in the words of `verification`. */
export function verdict({ maxError, worst }: Worst, verification: string): Verification {
  return { checked: true, verified: worst <= 1, verification, maxError }
}

/** The largest error, relative to its bound. */
export const percent = ({ worst }: Worst) => `${(100 * worst).toPrecision(3)} %`

/** Combines the results of the verifiers of all processes; every process must call it. */
export async function resultOfAll(
  verifier: Pick<MatmulVerifier, 'found' | 'result'>,
  { group, devices }: Checkers,
): Promise<Verification> {
  const { maxError, worst } = verifier.found
  const found = await gatherNumbers(group, devices, 2, () => [maxError, worst])
  const all = { maxError: 0, worst: 0 }
  for (let at = 0; at < found.length; at += 2) {
    all.maxError = Math.max(all.maxError, found[at]!)
    all.worst = Math.max(all.worst, found[at + 1]!)
  }
  return verifier.result(all)
}

/**
 * Compares every element with f64 (f32: within (k + 2)·2^-24·Σ|a||b|, the forward-error bound of any order of
 * summation, Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 3.1; integers: exact
 * modulo 2^32). Checks large products by Freivalds' algorithm with ±1 vectors: ‖(C − A·B)·x‖ against the
 * probabilistic bound 8·√k·2^-24·‖a_i‖·‖B‖_F (Higham and Mary, SIAM J. Sci. Comput. 41, 2019).
 */
export async function matmulVerifier<T extends MatmulType>(
  type: T,
  shape: MatmulShape,
  a: ElementSource<T>,
  b: ElementSource<T>,
  { split = false, checkers, everyElement = isSmallProduct(shape) }: MatmulVerifierOptions = {},
): Promise<MatmulVerifier> {
  return everyElement ? full(type, shape, a, b, split) : freivalds(type, shape, a, b, checkers)
}

/**
 * Rows `[first, first + rows)` of A · B in f64 (f32), or modulo 2^32 as i32 bits (integers), with Σ|a||b| for
 * the bound.
 */
export function referenceRows(
  type: MatmulType,
  rows: number,
  n: number,
  k: number,
  a: ElementArray<MatmulType>,
  b: ElementArray<MatmulType>,
): { value: Float64Array | Int32Array; magnitude: Float64Array } {
  const value = type === 'f32' ? new Float64Array(rows * n) : new Int32Array(rows * n)
  const magnitude = new Float64Array(type === 'f32' ? rows * n : 0)
  for (let i = 0; i < rows; i++) {
    const row = value.subarray(i * n, (i + 1) * n)
    const bound = magnitude.subarray(i * n, (i + 1) * n)
    for (let q = 0; q < k; q++) {
      const x = a[i * k + q]!
      const at = q * n
      if (type === 'f32') {
        const absolute = Math.abs(x)
        for (let j = 0; j < n; j++) {
          row[j]! += x * b[at + j]!
          bound[j]! += absolute * Math.abs(b[at + j]!)
        }
      } else for (let j = 0; j < n; j++) row[j] = (row[j]! + Math.imul(x, b[at + j]!)) | 0
    }
  }
  return { value, magnitude }
}

async function full<T extends MatmulType>(
  type: T,
  { n, k }: MatmulShape,
  a: ElementSource<T>,
  b: ElementSource<T>,
  split: boolean,
): Promise<MatmulVerifier> {
  const whole = await readElements(b, type, 0, k * n)
  const columnMaxima = split ? maxima(whole, n, true) : undefined
  const factor = split ? Math.max(k + 2, splitErrorFactor(k)) : k + 2
  const found: Worst = { maxError: 0, worst: 0 }
  return {
    found,
    async rows(first, data) {
      const rows = n === 0 ? 0 : data.length / n
      const part = await readElements(a, type, first * k, rows * k)
      const { value, magnitude } = referenceRows(type, rows, n, k, part, whole)
      const rowMaxima = split ? maxima(part, k, false) : undefined
      for (let index = 0; index < data.length; index++) {
        if (type !== 'f32') {
          if ((data[index]! | 0) !== value[index]!) found.worst = Number.POSITIVE_INFINITY
          found.maxError = Math.max(found.maxError, Math.abs((data[index]! | 0) - value[index]!))
          continue
        }
        if (Object.is(data[index]!, value[index]!) || data[index] === Math.fround(value[index]!)) continue
        const error = Math.abs(data[index]! - value[index]!)
        const largest =
          rowMaxima && columnMaxima ? rowMaxima[Math.floor(index / n)]! * columnMaxima[index % n]! : 0
        const bound = factor * u * magnitude[index]! + k * 2 ** -49 * largest + k * 2 ** -149
        addError(found, error, error / bound)
      }
    },
    result: (all = found) =>
      verdict(
        all,
        type === 'f32'
          ? `every element against f64, within ${split ? `${factor}·2^-24·Σ|a||b| + k·2^-49·α·β` : '(k + 2)·2^-24·Σ|a||b|'}; the largest error is ${percent(all)} of that`
          : 'every element, exact modulo 2^32',
      ),
  }
}

/** The largest |x| of each row of `width` elements, or of each column. */
function maxima(data: ElementArray<MatmulType>, width: number, columns: boolean): Float64Array {
  const result = new Float64Array(columns ? width : data.length / Math.max(1, width))
  for (let index = 0; index < data.length; index++) {
    const at = columns ? index % width : Math.floor(index / width)
    result[at] = Math.max(result[at]!, Math.abs(data[index]!))
  }
  return result
}

async function freivalds<T extends MatmulType>(
  type: T,
  { n, k }: MatmulShape,
  a: ElementSource<T>,
  b: ElementSource<T>,
  checkers: Checkers | undefined,
): Promise<MatmulVerifier> {
  const float = type === 'f32'
  const random = randomBits()
  // x: n × vectorCount; y = B · x: k × vectorCount.
  const x = float ? new Float64Array(n * vectorCount) : new Int32Array(n * vectorCount)
  for (let index = 0; index < x.length; index++) x[index] = float ? (random() & 1 ? 1 : -1) : random()
  const { y, squares } = await productWithVectors(type, n, k, b, x, checkers)
  const norm = Math.sqrt(squares)
  const found: Worst = { maxError: 0, worst: 0 }
  return {
    found,
    async rows(first, data) {
      const rows = data.length / n
      const part = await readElements(a, type, first * k, rows * k)
      const left = float ? new Float64Array(rows * vectorCount) : new Int32Array(rows * vectorCount)
      const right = float ? new Float64Array(rows * vectorCount) : new Int32Array(rows * vectorCount)
      multiplyVectors(data, rows, n, x, left, 0)
      multiplyVectors(part, rows, k, y, right, 0)
      for (let i = 0; i < rows; i++) {
        let rowSquares = 0
        if (float) for (let q = i * k; q < (i + 1) * k; q++) rowSquares += part[q]! * part[q]!
        const bound = 8 * Math.sqrt(k) * u * Math.sqrt(rowSquares) * norm
        for (let round = 0; round < vectorCount; round++) {
          const error = Math.abs(left[i * vectorCount + round]! - right[i * vectorCount + round]!)
          addError(found, error, error === 0 ? 0 : float ? error / bound : Number.POSITIVE_INFINITY)
        }
      }
    },
    result: (all = found) =>
      verdict(
        all,
        float
          ? `Freivalds' algorithm, ${vectorCount} vectors of ±1 in f64, every row within 8·√k·2^-24·‖a‖·‖B‖; the largest residual is ${percent(all)} of that`
          : `Freivalds' algorithm modulo 2^32, ${vectorCount} random vectors, exact`,
      ),
  }
}

/**
 * y = B · x, k × vectorCount, and the sum of the squares of B (f32). With several processes, each reads the
 * rows of B that its devices hold, and receives the other parts of y.
 */
async function productWithVectors<T extends MatmulType>(
  type: T,
  n: number,
  k: number,
  b: ElementSource<T>,
  x: Float64Array | Int32Array,
  checkers: Checkers | undefined,
): Promise<{ y: Float64Array | Int32Array; squares: number }> {
  const float = type === 'f32'
  const y = float ? new Float64Array(k * vectorCount) : new Int32Array(k * vectorCount)
  const shared = checkers !== undefined && checkers.group.rankCount > 1 ? checkers : undefined
  const ranges = shared ? splitRows(k, shared.devices.length) : [{ row: 0, rows: k }]
  const squares = ranges.map(() => 0)
  const step = Math.max(1, Math.floor(4_194_304 / Math.max(1, n)))
  for (const [index, range] of ranges.entries()) {
    if (shared && !shared.devices[index]!.local) continue
    for (let row = range.row; row < range.row + range.rows; row += step) {
      const count = Math.min(step, range.row + range.rows - row)
      const data = await readElements(b, type, row * n, count * n)
      multiplyVectors(data, count, n, x, y, row)
      if (float)
        for (let at = 0; at < data.length; at++) squares[index] = squares[index]! + data[at]! * data[at]!
    }
  }
  const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
  if (shared === undefined) return { y, squares: total(squares) }
  // One more row than the largest range has, for its sum of squares.
  const width = (ranges[0]!.rows + 1) * vectorCount
  const partOf = (index: number) =>
    y.subarray(ranges[index]!.row * vectorCount, (ranges[index]!.row + ranges[index]!.rows) * vectorCount)
  const found = await gatherNumbers(shared.group, shared.devices, width, (index) => {
    const numbers = new Float64Array(width)
    numbers.set(partOf(index))
    numbers[width - vectorCount] = squares[index]!
    return numbers
  })
  for (const index of ranges.keys()) {
    const numbers = found.subarray(index * width, (index + 1) * width)
    const part = partOf(index)
    part.set(numbers.subarray(0, part.length))
    squares[index] = numbers[width - vectorCount]!
  }
  return { y, squares: total(squares) }
}

/** result[(offset + i)·vectorCount + r] = Σ_j data[i·width + j] · vectors[j·vectorCount + r]. */
function multiplyVectors(
  data: ElementArray<MatmulType>,
  rows: number,
  width: number,
  vectors: Float64Array | Int32Array,
  result: Float64Array | Int32Array,
  offset: number,
): void {
  if (vectors instanceof Float64Array) {
    multiplyFloats(data as Float32Array, rows, width, vectors, result as Float64Array, offset)
    return
  }
  const sums = new Int32Array(vectorCount)
  for (let i = 0; i < rows; i++) {
    sums.fill(0)
    for (let j = 0; j < width; j++) {
      const value = data[i * width + j]!
      const at = j * vectorCount
      for (let r = 0; r < vectorCount; r++) sums[r] = (sums[r]! + Math.imul(value, vectors[at + r]!)) | 0
    }
    result.set(sums, (offset + i) * vectorCount)
  }
}

/** Returns 32 random bits for each call (xorshift32). */
function randomBits(): () => number {
  let state = 0x5eed
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state | 0
  }
}
