/** Rows × columns with a fixed outer ring. `source` is f (its ring is not used). */
export interface JacobiProblem {
  readonly rows: number
  readonly columns: number
  readonly source?: Float32Array | Float64Array
}

/** `iterations` sweeps in f64. */
export function referenceJacobi(
  { rows, columns, source }: JacobiProblem,
  state: Float32Array | Float64Array,
  iterations: number,
): Float64Array<ArrayBuffer> {
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
  }
  return from
}

/** One sweep of some rows with the kernels' rounding after every operation: the same bits, where the device keeps subnormal numbers. */
export function sweepRowsF32(
  columns: number,
  before: Float32Array,
  source: Float32Array | undefined,
  firstRow: number,
  rows: number,
): Float32Array<ArrayBuffer> {
  const after = new Float32Array(rows * columns)
  const f = Math.fround
  for (let row = 0; row < rows; row++)
    for (let column = 1; column < columns - 1; column++) {
      const at = (firstRow + row) * columns + column
      const sum = f(f(before[at - 1]! + before[at + 1]!) + f(before[at - columns]! + before[at + columns]!))
      after[row * columns + column] = 0.25 * f(sum + (source ? source[at]! : 0))
    }
  return after
}

/** `iterations` sweeps with the kernels' rounding. */
export function referenceJacobiF32(
  { rows, columns, source }: JacobiProblem,
  state: Float32Array,
  iterations: number,
): Float32Array<ArrayBuffer> {
  const rounded = source && Float32Array.from(source)
  let from = Float32Array.from(state)
  for (let iteration = 0; iteration < iterations && rows > 2 && columns > 2; iteration++) {
    const inner = sweepRowsF32(columns, from, rounded, 1, rows - 2)
    const next = Float32Array.from(from)
    for (let row = 1; row < rows - 1; row++)
      next.set(inner.subarray((row - 1) * columns + 1, row * columns - 1), row * columns + 1)
    from = next
  }
  return from
}
