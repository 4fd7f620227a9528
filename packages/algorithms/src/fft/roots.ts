import { inPieces } from '../element-source.ts'

/** exp(−2πi · k / n). */
export function root(k: number, n: number): readonly [number, number] {
  let at = k % n
  // exp(−2πi · at / n) with at · 8 <= n, after up to three reflections.
  const conjugate = 2 * at > n
  if (conjugate) at = n - at
  const negate = 4 * at > n
  if (negate) at = n / 2 - at
  const swap = 8 * at > n
  if (swap) at = n / 4 - at
  const angle = (2 * Math.PI * at) / n
  let [re, im] = [Math.cos(angle), Math.sin(angle)]
  if (swap) [re, im] = [im, re]
  if (negate) re = -re
  return [re, conjugate ? im : -im]
}

/** Fills `values` with complex numbers, real part first; `numberAt` is called for each, in order. */
export async function filled<A extends Float32Array | Float64Array>(
  values: A,
  numberAt: (at: number) => readonly [number, number],
): Promise<A> {
  await inPieces(values.length / 2, (from, to) => {
    for (let at = from; at < to; at++) [values[2 * at], values[2 * at + 1]] = numberAt(at)
  })
  return values
}

/** exp(−πi · n² / length) for each n of a line. */
export function chirp(length: number): Promise<Float64Array> {
  // Computed incrementally, n² modulo 2 · length stays an exact integer.
  let square = 0
  return filled(new Float64Array(2 * length), (n) => {
    const at = square
    square = (square + 2 * n + 1) % (2 * length)
    return root(at, 2 * length)
  })
}

/**
 * The conjugate chirp at `points` positions, continued symmetrically to negative indices (modulo `points`)
 * and divided by `points`: the kernel of the convolution that computes a transform.
 */
export function conjugateChirp(chirp: Float64Array, points: number): Float64Array {
  const values = new Float64Array(2 * points)
  for (let at = 0; at < chirp.length; at += 2)
    for (const to of [at, at === 0 ? 0 : 2 * points - at]) {
      values[to] = chirp[at]! / points
      values[to + 1] = -chirp[at + 1]! / points
    }
  return values
}
