import type { Radix } from './factors.ts'
import type { LineMethod } from './plan-fft.ts'
import { mixedRadixFft, withoutPauses } from './reference-fft.ts'
import { type ComplexArray, chirp, conjugateChirp, root } from './roots.ts'

/** Tables of factors, computed in f64: WGSL allows `sin` and `cos` of f32 an error of 2^-11. */

/**
 * The factors of a stage whose preceding stages have the product `before`: index (i − 1) · before + k has
 * exp(−2πi · k · i / (before · radix)). The first stage has none.
 */
export function stageFactors(radix: number, before: number): number[] {
  const factors: number[] = []
  if (before > 1)
    for (let i = 1; i < radix; i++)
      for (let k = 0; k < before; k++) factors.push(...root(k * i, before * radix))
  return factors
}

/** The chirp of a length, with one value for each value of a line. */
export function chirpTable(length: number): number[] {
  return interleaved(chirp(length))
}

/**
 * The spectrum of the conjugate chirp at `points` values, divided by `points`: the factors of the
 * convolution.
 */
export function chirpSpectrum(length: number, points: number): number[] {
  const { re, im } = conjugateChirp(chirp(length), points)
  return interleaved(withoutPauses(mixedRadixFft(re, im)))
}

function interleaved({ re, im }: ComplexArray): number[] {
  const pairs: number[] = []
  for (let n = 0; n < re.length; n++) pairs.push(re[n]!, im[n]!)
  return pairs
}

/** The number of low bits of k · n that select the first of the two factors of a square. */
export function lowBits(length: number): number {
  return Math.ceil(Math.log2(length) / 2)
}

/** exp(−2πi · m / length) for the low bits of m, and for the remaining bits. */
export function squareTables(length: number): { readonly low: number[]; readonly high: number[] } {
  const low: number[] = []
  const high: number[] = []
  const count = 2 ** lowBits(length)
  for (let m = 0; m < count; m++) low.push(...root(m, length))
  for (let m = 0; m < length; m += count) high.push(...root(m, length))
  return { low, high }
}

/** exp(−πi · k / length) for k up to length / 2: the factors between complex values and half a spectrum. */
export function mirrorTable(length: number): number[] {
  return Array.from({ length: Math.floor(length / 2) + 1 }, (_, k) => root(k, 2 * length)).flat()
}

/** The radices of a kernel's stages. A convolution repeats them in reverse order. */
export function lineRadices({ radices, convolves }: LineMethod): readonly Radix[] {
  return convolves ? [...radices, ...radices.toReversed()] : radices
}

/** The values of a kernel's table, and the offsets of its parts in complex numbers. */
export interface LineTable {
  readonly values: readonly number[]
  /** One for each stage. */
  readonly stages: readonly number[]
  readonly chirp: number
  readonly spectrum: number
  readonly low: number
  readonly high: number
  readonly mirror: number
}

/** The table of one kernel. */
export function lineTable({
  method,
  square,
  mirrors,
}: {
  readonly method: LineMethod
  readonly square?: number | undefined
  readonly mirrors?: 'first' | 'last' | undefined
}): LineTable {
  const values: number[] = []
  const place = (more: readonly number[]) => {
    const at = values.length / 2
    for (const value of more) values.push(value)
    return at
  }
  let before = 1
  const stages = lineRadices(method).map((radix, stage) => {
    // The inverse transform of a convolution begins anew.
    if (stage === method.radices.length) before = 1
    const at = place(stageFactors(radix, before))
    before *= radix
    return at
  })
  const [chirp, spectrum] = method.convolves
    ? [place(chirpTable(method.length)), place(chirpSpectrum(method.length, method.points))]
    : [0, 0]
  const tables = square === undefined ? undefined : squareTables(square)
  const [low, high] = tables === undefined ? [0, 0] : [place(tables.low), place(tables.high)]
  const mirror = mirrors === undefined ? 0 : place(mirrorTable(method.length))
  return { values, stages, chirp, spectrum, low, high, mirror }
}
