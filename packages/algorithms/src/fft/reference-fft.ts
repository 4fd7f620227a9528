import { paddedLength, radicesOf } from './factors.ts'
import { type ComplexArray, chirp, conjugateChirp, root } from './roots.ts'

/** Σ x[n] · exp(−2πi · k · n / N) in f64, of any length; the input may be overwritten. */
export function referenceFft(re: Float64Array, im: Float64Array): ComplexArray {
  return radicesOf(re.length) === undefined ? chirpFft(re, im) : mixedRadixFft(re, im)
}

/**
 * Stockham's algorithm with radices up to 7; each stage reads one pair of arrays and writes another.
 * Overwrites its input.
 */
export function mixedRadixFft(re: Float64Array, im: Float64Array): ComplexArray {
  const length = re.length
  let [fromRe, fromIm]: [Float64Array, Float64Array] = [re, im]
  let [toRe, toIm]: [Float64Array, Float64Array] = [new Float64Array(length), new Float64Array(length)]
  let before = 1
  for (const radix of smallRadices(length)) {
    const butterflies = length / radix
    const roots = Array.from({ length: radix }, (_, i) => root(i, radix))
    const xs = new Float64Array(2 * radix)
    for (let k = 0; k < before; k++) {
      const factors = roots.map((_, i) => root(k * i, before * radix))
      for (let j = k; j < butterflies; j += before) {
        for (let i = 0; i < radix; i++) {
          const [c, s] = factors[i]!
          const [x, y] = [fromRe[j + i * butterflies]!, fromIm[j + i * butterflies]!]
          xs[2 * i] = x * c - y * s
          xs[2 * i + 1] = x * s + y * c
        }
        const to = (j - k) * radix + k
        for (let m = 0; m < radix; m++) {
          let [sumRe, sumIm] = [0, 0]
          for (let i = 0; i < radix; i++) {
            const [c, s] = roots[(i * m) % radix]!
            sumRe += xs[2 * i]! * c - xs[2 * i + 1]! * s
            sumIm += xs[2 * i]! * s + xs[2 * i + 1]! * c
          }
          toRe[to + m * before] = sumRe
          toIm[to + m * before] = sumIm
        }
      }
    }
    ;[fromRe, toRe] = [toRe, fromRe]
    ;[fromIm, toIm] = [toIm, fromIm]
    before *= radix
  }
  return { re: fromRe, im: fromIm }
}

/** The prime factors of a length, with pairs of 2 merged to 4. */
function smallRadices(length: number): number[] {
  const found: number[] = []
  let rest = length
  for (const radix of [4, 2, 3, 5, 7]) for (; rest % radix === 0; rest /= radix) found.push(radix)
  return found
}

/** Bluestein's algorithm. */
function chirpFft(re: Float64Array, im: Float64Array): ComplexArray {
  const length = re.length
  const points = paddedLength(length)
  const wave = chirp(length)
  const { re: c, im: s } = wave
  const [aRe, aIm] = [new Float64Array(points), new Float64Array(points)]
  for (let n = 0; n < length; n++) {
    aRe[n] = re[n]! * c[n]! - im[n]! * s[n]!
    aIm[n] = re[n]! * s[n]! + im[n]! * c[n]!
  }
  const a = mixedRadixFft(aRe, aIm)
  const conjugate = conjugateChirp(wave, points)
  const b = mixedRadixFft(conjugate.re, conjugate.im)
  // The inverse transform of the product is the forward one with real and imaginary parts exchanged.
  const [pRe, pIm] = [new Float64Array(points), new Float64Array(points)]
  for (let k = 0; k < points; k++) {
    pIm[k] = a.re[k]! * b.re[k]! - a.im[k]! * b.im[k]!
    pRe[k] = a.re[k]! * b.im[k]! + a.im[k]! * b.re[k]!
  }
  const { re: yIm, im: yRe } = mixedRadixFft(pRe, pIm)
  const [outRe, outIm] = [new Float64Array(length), new Float64Array(length)]
  for (let k = 0; k < length; k++) {
    outRe[k] = yRe[k]! * c[k]! - yIm[k]! * s[k]!
    outIm[k] = yRe[k]! * s[k]! + yIm[k]! * c[k]!
  }
  return { re: outRe, im: outIm }
}
