import { inPieces } from '../element-source.ts'
import { paddedLength, radicesOf } from './factors.ts'
import { type FftPlan, lengthOf, productOf } from './plan-fft.ts'
import { chirp, conjugateChirp, filled, root } from './roots.ts'

/**
 * Σ x[n] · exp(−2πi · k · n / N) in f64, of any length; the input may be overwritten. Here, all complex
 * numbers are pairs, real part first.
 */
export function referenceFft(values: Float64Array): Promise<Float64Array> {
  return radicesOf(values.length / 2) === undefined ? chirpFft(values) : mixedRadixFft(values)
}

/**
 * Stockham's algorithm with radices up to 7; each stage reads one array and writes another. Overwrites its
 * input.
 */
export async function mixedRadixFft(values: Float64Array): Promise<Float64Array> {
  const length = values.length / 2
  let from = values
  let to: Float64Array = new Float64Array(2 * length)
  const table = await rootsOf(length)
  let before = 1
  for (const radix of smallRadices(length)) {
    const stage = { radix, before, table, from, to }
    await inPieces(length / radix, (first, last) => transformButterflies(stage, first, last))
    ;[from, to] = [to, from]
    before *= radix
  }
  return from
}

interface Stage {
  readonly radix: number
  /** The product of the radices of the preceding stages. */
  readonly before: number
  /** exp(−2πi · k / length) for each k. */
  readonly table: Float64Array
  readonly from: Float64Array
  readonly to: Float64Array
}

/** Computes the butterflies of a stage from `first` up to `last`. */
function transformButterflies({ radix, before, table, from, to }: Stage, first: number, last: number): void {
  const butterflies = from.length / 2 / radix
  const step = butterflies / before
  const x = new Float64Array(2 * radix)
  for (let j = first; j < last; j++) {
    const k = j % before
    for (let i = 0; i < radix; i++) {
      const at = 2 * (j + i * butterflies)
      const factor = 2 * k * i * step
      const c = table[factor]!
      const s = table[factor + 1]!
      x[2 * i] = from[at]! * c - from[at + 1]! * s
      x[2 * i + 1] = from[at]! * s + from[at + 1]! * c
    }
    const start = 2 * ((j - k) * radix + k)
    if (radix === 4) {
      for (let part = 0; part < 2; part++) {
        const [x0, x1, x2, x3] = [x[part]!, x[2 + part]!, x[4 + part]!, x[6 + part]!]
        // −i · (value 1 − value 3)
        const turned = part === 0 ? x[3]! - x[7]! : x[6]! - x[2]!
        to[start + part] = x0 + x1 + x2 + x3
        to[start + 2 * before + part] = x0 - x2 + turned
        to[start + 4 * before + part] = x0 - x1 + x2 - x3
        to[start + 6 * before + part] = x0 - x2 - turned
      }
      continue
    }
    for (let m = 0; m < radix; m++) {
      let re = 0
      let im = 0
      for (let i = 0; i < radix; i++) {
        const factor = 2 * ((i * m) % radix) * butterflies
        const c = table[factor]!
        const s = table[factor + 1]!
        re += x[2 * i]! * c - x[2 * i + 1]! * s
        im += x[2 * i]! * s + x[2 * i + 1]! * c
      }
      to[start + 2 * m * before] = re
      to[start + 2 * m * before + 1] = im
    }
  }
}

/** The largest length whose roots are kept; a longer line takes much longer than its roots. */
const mostKept = 2 ** 16
let kept = new Float64Array(0)

/**
 * exp(−2πi · k / length) for each k. Those of the last length are kept: all lines of an axis have one length.
 */
async function rootsOf(length: number): Promise<Float64Array> {
  if (kept.length === 2 * length) return kept
  const roots = await filled(new Float64Array(2 * length), (k) => root(k, length))
  if (length <= mostKept) kept = roots
  return roots
}

/** The prime factors of a length, with pairs of 2 merged to 4. */
function smallRadices(length: number): number[] {
  const found: number[] = []
  let rest = length
  for (const radix of [4, 2, 3, 5, 7]) for (; rest % radix === 0; rest /= radix) found.push(radix)
  return found
}

/** Bluestein's algorithm. */
async function chirpFft(values: Float64Array): Promise<Float64Array> {
  const points = paddedLength(values.length / 2)
  const wave = await chirp(values.length / 2)
  const spectrum = await mixedRadixFft(multiplied(values, wave, 2 * points))
  const factors = await mixedRadixFft(conjugateChirp(wave, points))
  // The inverse transform is the forward one with real and imaginary parts exchanged.
  const convolved = await mixedRadixFft(exchanged(multiplied(spectrum, factors)))
  return multiplied(exchanged(convolved), wave)
}

/** The products of as many complex numbers as `b` has, and zeros up to `length`. */
function multiplied(a: Float64Array, b: Float64Array, length = b.length): Float64Array {
  const products = new Float64Array(length)
  for (let at = 0; at < b.length; at += 2) {
    products[at] = a[at]! * b[at]! - a[at + 1]! * b[at + 1]!
    products[at + 1] = a[at]! * b[at + 1]! + a[at + 1]! * b[at]!
  }
  return products
}

const exchanged = (values: Float64Array) => values.map((_, at) => values[at ^ 1]!)

/**
 * The transform of an array by a plan, in f64, with numbers in memory order. The event loop turns while it is
 * computed.
 */
export async function referenceTransform(plan: FftPlan, input: ArrayLike<number>): Promise<Float64Array> {
  const { inputShape, realInput, realOutput, direction, scale, order } = plan
  let shape = [...inputShape]
  let values = new Float64Array(2 * productOf(inputShape))
  for (let at = 0; at < input.length; at++) values[realInput ? 2 * at : at] = input[at]!
  // The inverse transform is the forward one with real and imaginary parts exchanged.
  const [re, im] = direction === 'inverse' ? [1, 0] : [0, 1]
  for (const { axis, from, to } of plan.passes) {
    const length = plan.shape[axis]!
    const [before, after] = [shape[axis]!, lengthOf(length, to)]
    const [outer, inner] = [productOf(shape.slice(0, axis)), productOf(shape.slice(axis + 1))]
    const next = new Float64Array(2 * outer * after * inner)
    for (let line = 0; line < outer * inner; line++) {
      const [o, i] = [Math.floor(line / inner), line % inner]
      const own = new Float64Array(2 * length)
      for (let n = 0; n < length; n++) {
        const mirrored = from === 'half' && n >= before
        const at = 2 * ((o * before + (mirrored ? length - n : n)) * inner + i)
        const isReal = from === 'half' && (n === 0 || 2 * n === length)
        own[2 * n + re] = values[at]!
        own[2 * n + im] = isReal ? 0 : mirrored ? -values[at + 1]! : values[at + 1]!
      }
      const done = await referenceFft(own)
      for (let k = 0; k < after; k++) {
        const at = 2 * ((o * after + k) * inner + i)
        next[at] = done[2 * k + re]!
        next[at + 1] = done[2 * k + im]!
      }
    }
    shape = shape.with(axis, after)
    values = next
  }
  if (order === 'transposed') {
    const [x, y, z] = [shape[0]!, shape[1]!, 2 * (shape[2] ?? 1)]
    const given = values
    values = given.map((_, index) => {
      const [c, b, a] = [index % z, Math.floor(index / z) % x, Math.floor(index / z / x)]
      return given[(b * y + a) * z + c]!
    })
  }
  const result = realOutput ? new Float64Array(values.length / 2) : values
  return result.map((_, at) => values[realOutput ? 2 * at : at]! * scale)
}
