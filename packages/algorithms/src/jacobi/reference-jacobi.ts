import { giveTurn } from '../element-source.ts'

/** A grid of rows × columns with a fixed outer ring. `source` is f; its outer ring is not used. */
export interface JacobiProblem {
  readonly rows: number
  readonly columns: number
  readonly source?: Float32Array | Float64Array
}

/** `iterations` sweeps in f64. The event loop turns while they are computed. */
export async function referenceJacobi(
  { rows, columns, source }: JacobiProblem,
  state: Float32Array | Float64Array,
  iterations: number,
): Promise<Float64Array<ArrayBuffer>> {
  let from = Float64Array.from(state)
  let to = Float64Array.from(state)
  for (let iteration = 0; iteration < iterations; iteration++) {
    for (let row = 1; row < rows - 1; row++)
      for (let column = 1; column < columns - 1; column++) {
        const at = row * columns + column
        const sum = from[at - 1]! + from[at + 1]! + (from[at - columns]! + from[at + columns]!)
        to[at] = 0.25 * (sum + (source ? source[at]! : 0))
      }
    ;[from, to] = [to, from]
    await giveTurn()
  }
  return from
}

/**
 * One sweep of rows 1 to `rows`, from one state into the same places of another, with the kernels' rounding
 * after every operation, so that the bits are the same on a device that keeps subnormal numbers. The outer
 * columns do not change.
 */
export function sweepRowsF32(
  columns: number,
  from: Float32Array,
  to: Float32Array,
  source: Float32Array | undefined,
  rows: number,
): void {
  const f = Math.fround
  for (let row = 1; row <= rows; row++)
    for (let at = row * columns + 1; at < (row + 1) * columns - 1; at++) {
      const sum = f(f(from[at - 1]! + from[at + 1]!) + f(from[at - columns]! + from[at + columns]!))
      to[at] = 0.25 * (source ? f(sum + source[at]!) : sum)
    }
}
