import type { Radix } from './factors.ts'
import { inPieces, type Paused, withoutPauses } from './pauses.ts'
import type { LineMethod } from './plan-fft.ts'
import { mixedRadixFft } from './reference-fft.ts'
import { type ComplexArray, chirp, conjugateChirp, root } from './roots.ts'

/**
 * Tables of complex factors, real part first, computed in f64: WGSL allows `sin` and `cos` of f32 an error of
 * 2^-11.
 */

/**
 * The factors of a stage whose preceding stages have the product `before`: index (i − 1) · before + k has
 * exp(−2πi · k · i / (before · radix)). The first stage has none.
 */
export function* stageFactors(radix: number, before: number): Paused<Float32Array> {
  if (before === 1) return new Float32Array(0)
  return yield* rootTable((radix - 1) * before, (at) => {
    const i = Math.floor(at / before) + 1
    return root((at % before) * i, before * radix)
  })
}

/** exp(−2πi · k / length) for k up to length / 4: the factors between real numbers in pairs and their spectrum. */
export function* mirrorRoots(length: number): Paused<Float32Array> {
  return yield* rootTable(Math.floor(length / 4) + 1, (k) => root(k, length))
}

function* rootTable(count: number, rootAt: (at: number) => readonly [number, number]): Paused<Float32Array> {
  const values = new Float32Array(2 * count)
  yield* inPieces(count, (from, to) => {
    for (let at = from; at < to; at++) [values[2 * at], values[2 * at + 1]] = rootAt(at)
  })
  return values
}

/** The chirp of a length, with one value for each value of a line. */
export function* chirpTable(length: number): Paused<Float32Array> {
  return interleaved(yield* chirp(length))
}

/**
 * The spectrum of the conjugate chirp at `points` values, divided by `points`: the factors of the
 * convolution.
 */
export function* chirpSpectrum(length: number, points: number): Paused<Float32Array> {
  const { re, im } = conjugateChirp(yield* chirp(length), points)
  return interleaved(yield* mixedRadixFft(re, im))
}

function interleaved({ re, im }: ComplexArray): Float32Array {
  const pairs = new Float32Array(2 * re.length)
  for (let n = 0; n < re.length; n++) {
    pairs[2 * n] = re[n]!
    pairs[2 * n + 1] = im[n]!
  }
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
  const place = (more: Iterable<number>) => {
    const at = values.length / 2
    for (const value of more) values.push(value)
    return at
  }
  let before = 1
  const stages = lineRadices(method).map((radix, stage) => {
    // The inverse transform of a convolution begins anew.
    if (stage === method.radices.length) before = 1
    const at = place(withoutPauses(stageFactors(radix, before)))
    before *= radix
    return at
  })
  const [chirp, spectrum] = method.convolves
    ? [
        place(withoutPauses(chirpTable(method.length))),
        place(withoutPauses(chirpSpectrum(method.length, method.points))),
      ]
    : [0, 0]
  const tables = square === undefined ? undefined : squareTables(square)
  const [low, high] = tables === undefined ? [0, 0] : [place(tables.low), place(tables.high)]
  const mirror = mirrors === undefined ? 0 : place(withoutPauses(mirrorRoots(2 * method.length)))
  return { values, stages, chirp, spectrum, low, high, mirror }
}
