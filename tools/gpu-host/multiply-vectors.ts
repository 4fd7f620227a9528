import { parentPort } from 'node:worker_threads'

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

/** Rows that are multiplied together, so that a piece of the vectors stays in the fastest cache. */
const band = 16
const piece = 256

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
    for (let begin = 0; begin < width; begin += piece) {
      const end = Math.min(width, begin + piece)
      for (let i = 0; i < count; i++) {
        const row = first + top + i
        let [s0, s1, s2, s3, s4, s5, s6, s7, square] = [0, 0, 0, 0, 0, 0, 0, 0, 0]
        for (let j = begin, at = begin * 8; j < end; j++, at += 8) {
          const value = data[i * width + j]!
          s0 += value * vectors[at]!
          s1 += value * vectors[at + 1]!
          s2 += value * vectors[at + 2]!
          s3 += value * vectors[at + 3]!
          s4 += value * vectors[at + 4]!
          s5 += value * vectors[at + 5]!
          s6 += value * vectors[at + 6]!
          s7 += value * vectors[at + 7]!
          square += value * value
        }
        squares[row] = squares[row]! + square
        for (const [vector, sum] of [s0, s1, s2, s3, s4, s5, s6, s7].entries())
          values[row * 8 + vector] = values[row * 8 + vector]! + sum
      }
    }
  }
}

parentPort?.on('message', (job: Multiplication) => {
  multiplyVectors(job)
  parentPort!.postMessage('done')
})
