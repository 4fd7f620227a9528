import { type JacobiProblem, sweepRowsF32 } from '../jacobi/reference-jacobi.ts'

/** `iterations` sweeps with the kernels' rounding. */
export function referenceJacobiF32(
  { rows, columns, source }: JacobiProblem,
  state: Float32Array,
  iterations: number,
): Float32Array<ArrayBuffer> {
  const rounded = source && Float32Array.from(source)
  let from = Float32Array.from(state)
  let to = from.slice()
  for (let iteration = 0; iteration < iterations; iteration++) {
    sweepRowsF32(columns, from, to, rounded, rows - 2)
    ;[from, to] = [to, from]
  }
  return from
}
