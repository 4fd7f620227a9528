import { mixedRadixFft } from './reference-fft.ts'
import { chirp, conjugateChirp, filled, root } from './roots.ts'

/**
 * Tables of complex factors, real part first, computed in f64: WGSL allows `sin` and `cos` of f32 an error of
 * 2^-11.
 */
export type Table = Promise<Float32Array>

export const rootTable = (count: number, rootAt: Parameters<typeof filled>[1]): Table =>
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

export const stageFactorCount = (radix: number, before: number) => (before === 1 ? 0 : (radix - 1) * before)

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
