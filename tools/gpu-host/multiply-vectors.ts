import { parentPort } from 'node:worker_threads'
import { multiplyFloats } from '../../packages/algorithms/src/matmul/verify/multiply-floats.ts'

/** Rows `first` to `first + rows` of a matrix of `width` columns times eight vectors. Element i of these rows is `block[(start + i) % block.length]`. */
export interface Multiplication {
  readonly block: Float32Array<SharedArrayBuffer>
  readonly start: number
  readonly first: number
  readonly rows: number
  readonly width: number
  /** width × 8. */
  readonly vectors: Float64Array<SharedArrayBuffer>
  /** Receives the products, 8 a row of the matrix. */
  readonly values: Float64Array<SharedArrayBuffer>
  /** Receives the sum of the squares of each row. */
  readonly squares: Float64Array<SharedArrayBuffer>
}

/** Rows that are multiplied together. */
const band = 16

export function multiplyVectors(job: Multiplication): void {
  const { block, start, first, rows, width, vectors, values, squares } = job
  const data = new Float32Array(band * width)
  for (let top = 0; top < rows; top += band) {
    const count = Math.min(band, rows - top)
    for (let at = 0; at < count * width; ) {
      const from = (start + top * width + at) % block.length
      const length = Math.min(count * width - at, block.length - from)
      data.set(block.subarray(from, from + length), at)
      at += length
    }
    multiplyFloats(data, count, width, vectors, values, first + top)
    for (let i = 0; i < count; i++) {
      let square = 0
      for (let at = i * width; at < (i + 1) * width; at++) square += data[at]! * data[at]!
      squares[first + top + i] = square
    }
  }
}

parentPort?.on('message', (job: Multiplication) => {
  multiplyVectors(job)
  parentPort!.postMessage('done')
})
