import type { Radix } from './factors.ts'
import type { LineMethod, StagesMethod } from './plan-fft.ts'
import { mixedRadixFft } from './reference-fft.ts'
import { type ComplexArray, chirp, conjugateChirp, root } from './roots.ts'

/** Tables of factors, computed in f64: WGSL allows `sin` and `cos` of f32 an error of 2^-11. */

/**
 * Factors of the stages after the first, one stage after another: index (i − 1) · before + k has exp(−2πi · k
 * · i / (before · radix)).
 */
export function stageTable(radices: readonly number[]): number[] {
  const table: number[] = []
  let before = radices[0]!
  for (const radix of radices.slice(1)) {
    for (let i = 1; i < radix; i++)
      for (let k = 0; k < before; k++) table.push(...root(k * i, before * radix))
    before *= radix
  }
  return table
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
  return interleaved(mixedRadixFft(re, im))
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

/** The offsets of the parts of a kernel's table, in complex numbers, and its values. */
export interface LineTable {
  readonly values: readonly number[]
  readonly chirp: number
  readonly spectrum: number
  readonly low: number
  readonly high: number
}

/**
 * The table of one kernel. `square`: the length of the whole line if the kernel transforms the columns of its
 * square.
 */
export function lineTable(method: LineMethod, square: number | undefined): LineTable {
  const values = stageTable(method.radices)
  for (const value of method.convolves ? stageTable(method.radices.toReversed()) : []) values.push(value)
  const place = (more: readonly number[]) => {
    const at = values.length / 2
    for (const value of more) values.push(value)
    return at
  }
  const [chirp, spectrum] = method.convolves
    ? [place(chirpTable(method.length)), place(chirpSpectrum(method.length, method.points))]
    : [0, 0]
  const tables = square === undefined ? undefined : squareTables(square)
  const [low, high] = tables === undefined ? [0, 0] : [place(tables.low), place(tables.high)]
  return { values, chirp, spectrum, low, high }
}

/** The offset of each stage's factors, in complex numbers. */
export function stageStarts({ radices }: Pick<StagesMethod, 'radices'>): readonly number[] {
  let before = 1
  let at = 0
  return radices.map((radix, stage) => {
    const start = at
    if (stage > 0) at += (radix - 1) * before
    before *= radix
    return start
  })
}

/** The radices of a kernel's stages. A convolution repeats them in reverse order. */
export function lineRadices({ radices, convolves }: LineMethod): readonly Radix[] {
  return convolves ? [...radices, ...radices.toReversed()] : radices
}

/** The offset of the factors of each stage of a kernel, in complex numbers. */
export function lineStarts({ radices, convolves, points }: LineMethod): readonly number[] {
  const there = stageStarts({ radices })
  if (!convolves) return there
  const end = points - radices[0]!
  return [...there, ...stageStarts({ radices: radices.toReversed() }).map((start) => end + start)]
}
