import type { Radix } from './factors.ts'
import { productOf, type StagedMethod } from './plan-fft.ts'
import { mixedRadixFft } from './reference-fft.ts'
import { chirp, conjugateChirp, filled, root } from './roots.ts'

/**
 * Tables of complex factors, real part first, computed in f64: WGSL allows `sin` and `cos` of f32 an error of
 * 2^-11.
 */
type Table = Promise<Float32Array>

const rootTable = (count: number, rootAt: Parameters<typeof filled>[1]): Table =>
  filled(new Float32Array(2 * count), rootAt)

/**
 * The factors of a stage whose preceding stages have the product `before`: index (i − 1) · before + k has
 * exp(−2πi · k · i / (before · radix)). The first stage has none.
 */
export function stageFactors(radix: number, before: number): Table {
  return rootTable(stageFactorCount(radix, before), (at) => {
    const i = Math.floor(at / before) + 1
    return root((at % before) * i, before * radix)
  })
}

const stageFactorCount = (radix: number, before: number) => (before === 1 ? 0 : (radix - 1) * before)

/** exp(−2πi · k / length) for k up to length / 4: the factors between real numbers in pairs and their spectrum. */
export function mirrorRoots(length: number): Table {
  return rootTable(Math.floor(length / 4) + 1, (k) => root(k, length))
}

/** The chirp of a length, with one value for each value of a line. */
export async function chirpTable(length: number): Table {
  return new Float32Array(await chirp(length))
}

/**
 * The spectrum of the conjugate chirp at `points` values, divided by `points`: the factors of the
 * convolution.
 */
export async function chirpSpectrum(length: number, points: number): Table {
  return new Float32Array(await mixedRadixFft(conjugateChirp(await chirp(length), points)))
}

/** The number of low bits of k · n that select the first of the two factors of a square. */
export function lowBits(length: number): number {
  return Math.ceil(Math.log2(length) / 2)
}

/** The stages of a kernel, and the offsets of the parts of its table in complex numbers. */
export interface LineTable {
  /** `before`: the product of the radices of the stages before. A convolution repeats all in reverse order. */
  readonly stages: readonly { readonly radix: Radix; readonly before: number; readonly table: number }[]
  readonly chirp: number
  readonly spectrum: number
  readonly low: number
  readonly high: number
  readonly mirror: number
  /** Computes the table; absent if it is empty. */
  readonly values?: (() => Table) | undefined
}

/** The table of one kernel. */
export function lineTable({
  method: { length, points, radices, convolves },
  square,
  mirrors,
}: {
  readonly method: StagedMethod
  readonly square?: number | undefined
  readonly mirrors?: 'first' | 'last' | undefined
}): LineTable {
  let end = 0
  const parts: { readonly at: number; readonly values: () => Table }[] = []
  const place = (count: number, values: () => Table) => {
    const at = end
    parts.push({ at, values })
    end += count
    return at
  }
  const stagesOf = (own: readonly Radix[]) =>
    own.map((radix, stage) => {
      const before = productOf(own.slice(0, stage))
      const table = place(stageFactorCount(radix, before), () => stageFactors(radix, before))
      return { radix, before, table }
    })
  const stages = [...stagesOf(radices), ...(convolves ? stagesOf(radices.toReversed()) : [])]
  const [chirp, spectrum] = convolves
    ? [place(length, () => chirpTable(length)), place(points, () => chirpSpectrum(length, points))]
    : [0, 0]
  // exp(−2πi · m / square) for the low bits of m, and for the remaining bits.
  const lows = square === undefined ? 0 : 2 ** lowBits(square)
  const highs = square === undefined ? 0 : Math.ceil(square / lows)
  const low = place(lows, () => rootTable(lows, (m) => root(m, square!)))
  const high = place(highs, () => rootTable(highs, (m) => root(m * lows, square!)))
  const mirror = mirrors ? place(Math.floor(length / 2) + 1, () => mirrorRoots(2 * length)) : 0
  const values = async () => {
    const all = new Float32Array(2 * end)
    for (const part of parts) all.set(await part.values(), 2 * part.at)
    return all
  }
  return { stages, chirp, spectrum, low, high, mirror, values: end > 0 ? values : undefined }
}
