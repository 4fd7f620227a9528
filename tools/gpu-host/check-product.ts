import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { vectorCount } from '../../packages/algorithms/src/matmul/verify/multiply-floats.ts'
import type { Multiplication } from './multiply-vectors.ts'

/** A matrix that repeats one block of values: element i (flat, row-major) is `block[(i + shift) % block.length]`. */
export interface PeriodicMatrix {
  readonly block: Float32Array<SharedArrayBuffer>
  readonly shift: number
}

/** A result of up to 2^30 elements in memory that threads share, in bands of rows: a message to a thread cannot name 4 GiB in one piece. */
export class SharedResult {
  readonly columns: number
  readonly bandRows: number
  readonly bands: readonly Float32Array<SharedArrayBuffer>[]

  constructor(rows: number, columns: number, bandLength = 2 ** 26) {
    this.columns = columns
    this.bandRows = Math.max(1, Math.floor(bandLength / Math.max(1, columns)))
    this.bands = Array.from({ length: Math.ceil(rows / this.bandRows) }, (_, band) => {
      const own = Math.min(this.bandRows, rows - band * this.bandRows)
      return new Float32Array(new SharedArrayBuffer(4 * own * columns))
    })
  }

  /** Takes elements from flat index `offset` on. */
  set(offset: number, data: Float32Array): void {
    const length = this.bandRows * this.columns
    for (let at = 0; at < data.length; ) {
      const band = this.bands[Math.floor((offset + at) / length)]!
      const to = (offset + at) % length
      const part = data.subarray(at, at + band.length - to)
      band.set(part, to)
      at += part.length
    }
  }

  element(row: number, column: number): number {
    return this.bands[Math.floor(row / this.bandRows)]![(row % this.bandRows) * this.columns + column]!
  }
}

/** How exact a product has to be. */
export interface ProductBound {
  /** An element may be wrong by `factor`·2^-24·Σ|a||b|. */
  readonly factor: number
}

export interface ProductCheck {
  readonly verified: boolean
  readonly verification: string
}

const sampleCount = 512
const u = 2 ** -24

/**
 * Checks C = A · B of f32 in host memory: all of it by Freivalds' algorithm with eight vectors of ±1, ‖(C − A·B)·x‖ for each row within
 * 8·√k·2^-24·‖a‖·‖B‖ (Higham and Mary, SIAM J. Sci. Comput. 41, 2019), and 512 elements at random places against f64. The products with the
 * vectors are formed in f64 by worker threads on all cores. `close` ends them.
 */
export class ProductChecker {
  readonly #workers = Array.from(
    { length: Math.max(1, Math.min(48, availableParallelism() - 1)) },
    () => new Worker(new URL('./multiply-vectors.ts', import.meta.url)),
  )

  async check(
    { m, n, k }: { readonly m: number; readonly n: number; readonly k: number },
    a: PeriodicMatrix,
    b: PeriodicMatrix,
    c: SharedResult,
    { factor }: ProductBound,
  ): Promise<ProductCheck> {
    const x = floats(n * vectorCount)
    for (let index = 0; index < x.length; index++) x[index] = Math.random() < 0.5 ? -1 : 1
    const product = await this.#multiply(b, k, n, x)
    const [left, right] = [await this.#multiply(c, m, n, x), await this.#multiply(a, m, k, product.values)]
    const norm = Math.sqrt(product.squares.reduce((sum, value) => sum + value, 0))
    let residual = 0
    for (let row = 0; row < m; row++)
      for (let vector = 0; vector < vectorCount; vector++) {
        const at = row * vectorCount + vector
        const bound = 8 * Math.sqrt(k) * u * Math.sqrt(right.squares[row]!) * norm
        residual = worse(residual, Math.abs(left.values[at]! - right.values[at]!) / bound)
      }
    let error = 0
    for (let sample = 0; sample < sampleCount; sample++) {
      const [row, column] = [Math.floor(Math.random() * m), Math.floor(Math.random() * n)]
      let [value, magnitude] = [0, 0]
      for (let q = 0; q < k; q++) {
        const term = element(a, row * k + q) * element(b, q * n + column)
        value += term
        magnitude += Math.abs(term)
      }
      error = worse(error, Math.abs(c.element(row, column) - value) / (factor * u * magnitude))
    }
    return {
      verified: residual <= 1 && error <= 1,
      verification: `Freivalds' algorithm, every row: the largest residual is ${percent(residual)} of its bound; ${sampleCount} elements against f64: the largest error is ${percent(error)} of its bound`,
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()))
  }

  /** The matrix times `vectorCount` vectors, and the sum of the squares of each row. */
  async #multiply(
    matrix: PeriodicMatrix | SharedResult,
    rows: number,
    width: number,
    vectors: Float64Array<SharedArrayBuffer>,
  ) {
    const [values, squares] = [floats(rows * vectorCount), floats(rows)]
    const count = Math.ceil(rows / this.#workers.length)
    const jobs: Multiplication[] = []
    if (matrix instanceof SharedResult)
      for (const [band, block] of matrix.bands.entries())
        for (let top = 0; top < block.length / width; top += count) {
          const own = Math.min(count, block.length / width - top)
          const place = { start: top * width, first: band * matrix.bandRows + top, rows: own }
          jobs.push({ block, ...place, width, vectors, values, squares })
        }
    else
      for (let first = 0; first < rows; first += count) {
        const place = { start: matrix.shift + first * width, first, rows: Math.min(count, rows - first) }
        jobs.push({ block: matrix.block, ...place, width, vectors, values, squares })
      }
    await Promise.all(this.#workers.map((worker, index) => this.#run(worker, jobs, index)))
    return { values, squares }
  }

  /** Every so many-th job, one after another. */
  async #run(worker: Worker, jobs: readonly Multiplication[], begin: number): Promise<void> {
    for (let index = begin; index < jobs.length; index += this.#workers.length)
      await new Promise<void>((resolve, reject) => {
        worker.once('error', reject).once('message', () => {
          worker.off('error', reject)
          resolve()
        })
        worker.postMessage(jobs[index]!)
      })
  }
}

function floats(length: number): Float64Array<SharedArrayBuffer> {
  return new Float64Array(new SharedArrayBuffer(8 * length))
}

function element({ block, shift }: PeriodicMatrix, index: number): number {
  return block[(index + shift) % block.length]!
}

/** The larger number; infinity where the second is not a number. */
function worse(most: number, ratio: number): number {
  return Number.isNaN(ratio) ? Number.POSITIVE_INFINITY : Math.max(most, ratio)
}

function percent(ratio: number): string {
  return `${(100 * ratio).toPrecision(2)} %`
}
