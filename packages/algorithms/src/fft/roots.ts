import { inPieces } from '../element-source.ts'

/** Complex numbers in f64. */
export interface ComplexArray {
  readonly re: Float64Array
  readonly im: Float64Array
}

/** exp(−2πi · k / n). */
export function root(k: number, n: number): readonly [number, number] {
  let at = k % n
  // exp(−2πi · at / n) with at · 8 <= n, after up to three reflections.
  let [conjugate, negate, swap] = [false, false, false]
  if (2 * at > n) {
    at = n - at
    conjugate = true
  }
  if (4 * at > n) {
    at = n / 2 - at
    negate = true
  }
  if (8 * at > n) {
    at = n / 4 - at
    swap = true
  }
  const angle = (2 * Math.PI * at) / n
  let [re, im] = [Math.cos(angle), Math.sin(angle)]
  if (swap) [re, im] = [im, re]
  if (negate) re = -re
  return [re, conjugate ? im : -im]
}

/** exp(−πi · n² / length) for each n of a line. */
export async function chirp(length: number): Promise<ComplexArray> {
  const [re, im] = [new Float64Array(length), new Float64Array(length)]
  // Computed incrementally, n² modulo 2 · length stays an exact integer.
  let square = 0
  await inPieces(length, (from, to) => {
    for (let n = from; n < to; square = (square + 2 * n + 1) % (2 * length), n++) {
      const [x, y] = root(square, 2 * length)
      re[n] = x
      im[n] = y
    }
  })
  return { re, im }
}

/**
 * The conjugate chirp at `points` positions, continued symmetrically to negative indices (modulo `points`)
 * and divided by `points`: the kernel of the convolution that computes a transform.
 */
export function conjugateChirp({ re, im }: ComplexArray, points: number): ComplexArray {
  const [toRe, toIm] = [new Float64Array(points), new Float64Array(points)]
  for (let n = 0; n < re.length; n++) {
    const mirrored = n === 0 ? 0 : points - n
    toRe[n] = toRe[mirrored] = re[n]! / points
    toIm[n] = toIm[mirrored] = -im[n]! / points
  }
  return { re: toRe, im: toIm }
}
