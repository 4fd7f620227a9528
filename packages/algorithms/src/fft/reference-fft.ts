import { inPieces } from '../element-source.ts'
import { paddedLength, radicesOf } from './factors.ts'
import { type FftPlan, productOf } from './plan-fft.ts'
import { type ComplexArray, chirp, conjugateChirp, root } from './roots.ts'

/** Σ x[n] · exp(−2πi · k · n / N) in f64, of any length; the input may be overwritten. */
export function referenceFft(re: Float64Array, im: Float64Array): Promise<ComplexArray> {
  return radicesOf(re.length) === undefined ? chirpFft(re, im) : mixedRadixFft(re, im)
}

/**
 * Stockham's algorithm with radices up to 7; each stage reads one pair of arrays and writes another.
 * Overwrites its input.
 */
export async function mixedRadixFft(re: Float64Array, im: Float64Array): Promise<ComplexArray> {
  const length = re.length
  let from: ComplexArray = { re, im }
  let to: ComplexArray = { re: new Float64Array(length), im: new Float64Array(length) }
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
  readonly table: ComplexArray
  readonly from: ComplexArray
  readonly to: ComplexArray
}

/** Computes the butterflies of a stage from `first` up to `last`. */
function transformButterflies({ radix, before, table, from, to }: Stage, first: number, last: number): void {
  const butterflies = table.re.length / radix
  const step = butterflies / before
  const [xs, ys] = [new Float64Array(radix), new Float64Array(radix)]
  for (let j = first; j < last; j++) {
    const k = j % before
    for (let i = 0; i < radix; i++) {
      const c = table.re[k * i * step]!
      const s = table.im[k * i * step]!
      const x = from.re[j + i * butterflies]!
      const y = from.im[j + i * butterflies]!
      xs[i] = x * c - y * s
      ys[i] = x * s + y * c
    }
    const start = (j - k) * radix + k
    if (radix === 4) {
      const [x0, x1, x2, x3] = [xs[0]!, xs[1]!, xs[2]!, xs[3]!]
      const [y0, y1, y2, y3] = [ys[0]!, ys[1]!, ys[2]!, ys[3]!]
      to.re[start] = x0 + x1 + x2 + x3
      to.im[start] = y0 + y1 + y2 + y3
      to.re[start + before] = x0 + y1 - x2 - y3
      to.im[start + before] = y0 - x1 - y2 + x3
      to.re[start + 2 * before] = x0 - x1 + x2 - x3
      to.im[start + 2 * before] = y0 - y1 + y2 - y3
      to.re[start + 3 * before] = x0 - y1 - x2 + y3
      to.im[start + 3 * before] = y0 + x1 - y2 - x3
      continue
    }
    for (let m = 0; m < radix; m++) {
      let sumRe = 0
      let sumIm = 0
      for (let i = 0; i < radix; i++) {
        const at = ((i * m) % radix) * butterflies
        const c = table.re[at]!
        const s = table.im[at]!
        sumRe += xs[i]! * c - ys[i]! * s
        sumIm += xs[i]! * s + ys[i]! * c
      }
      to.re[start + m * before] = sumRe
      to.im[start + m * before] = sumIm
    }
  }
}

/** The largest length whose roots are kept; a longer line takes much longer than its roots. */
const mostKept = 2 ** 16
let kept: ComplexArray = { re: new Float64Array(0), im: new Float64Array(0) }

/**
 * exp(−2πi · k / length) for each k. Those of the last length are kept: all lines of an axis have one length.
 */
async function rootsOf(length: number): Promise<ComplexArray> {
  if (kept.re.length === length) return kept
  const [re, im] = [new Float64Array(length), new Float64Array(length)]
  await inPieces(length, (from, to) => {
    for (let k = from; k < to; k++) [re[k], im[k]] = root(k, length)
  })
  if (length <= mostKept) kept = { re, im }
  return { re, im }
}

/** The prime factors of a length, with pairs of 2 merged to 4. */
function smallRadices(length: number): number[] {
  const found: number[] = []
  let rest = length
  for (const radix of [4, 2, 3, 5, 7]) for (; rest % radix === 0; rest /= radix) found.push(radix)
  return found
}

/** Bluestein's algorithm. */
async function chirpFft(re: Float64Array, im: Float64Array): Promise<ComplexArray> {
  const length = re.length
  const points = paddedLength(length)
  const wave = await chirp(length)
  const { re: c, im: s } = wave
  const [aRe, aIm] = [new Float64Array(points), new Float64Array(points)]
  for (let n = 0; n < length; n++) {
    aRe[n] = re[n]! * c[n]! - im[n]! * s[n]!
    aIm[n] = re[n]! * s[n]! + im[n]! * c[n]!
  }
  const a = await mixedRadixFft(aRe, aIm)
  const conjugate = conjugateChirp(wave, points)
  const b = await mixedRadixFft(conjugate.re, conjugate.im)
  // The inverse transform of the product is the forward one with real and imaginary parts exchanged.
  const [pRe, pIm] = [new Float64Array(points), new Float64Array(points)]
  for (let k = 0; k < points; k++) {
    pIm[k] = a.re[k]! * b.re[k]! - a.im[k]! * b.im[k]!
    pRe[k] = a.re[k]! * b.im[k]! + a.im[k]! * b.re[k]!
  }
  const { re: yIm, im: yRe } = await mixedRadixFft(pRe, pIm)
  const [outRe, outIm] = [new Float64Array(length), new Float64Array(length)]
  for (let k = 0; k < length; k++) {
    outRe[k] = yRe[k]! * c[k]! - yIm[k]! * s[k]!
    outIm[k] = yRe[k]! * s[k]! + yIm[k]! * c[k]!
  }
  return { re: outRe, im: outIm }
}

/**
 * The transform of an array by a plan, in f64. Numbers are in memory order, complex values as pairs. The
 * event loop turns while it is computed.
 */
export async function referenceTransform(plan: FftPlan, input: ArrayLike<number>): Promise<Float64Array> {
  const { inputShape, realInput, realOutput, direction, scale, order } = plan
  const count = productOf(inputShape)
  let shape = [...inputShape]
  let [re, im] = [new Float64Array(count), new Float64Array(count)]
  for (let index = 0; index < count; index++) {
    re[index] = input[realInput ? index : 2 * index]!
    im[index] = realInput ? 0 : input[2 * index + 1]!
  }
  const inverse = direction === 'inverse'
  for (const { axis, from, to } of plan.passes) {
    const length = plan.shape[axis]!
    const [before, after] = [shape[axis]!, to === 'half' ? Math.floor(length / 2) + 1 : length]
    const [outer, inner] = [productOf(shape.slice(0, axis)), productOf(shape.slice(axis + 1))]
    const [nextRe, nextIm] = [
      new Float64Array(outer * after * inner),
      new Float64Array(outer * after * inner),
    ]
    for (let line = 0; line < outer * inner; line++) {
      const [o, i] = [Math.floor(line / inner), line % inner]
      const [lineRe, lineIm] = [new Float64Array(length), new Float64Array(length)]
      for (let n = 0; n < length; n++) {
        const mirrored = from === 'half' && n >= before
        const at = (o * before + (mirrored ? length - n : n)) * inner + i
        const own = from === 'half' && (n === 0 || 2 * n === length)
        lineRe[n] = re[at]!
        lineIm[n] = own ? 0 : mirrored ? -im[at]! : im[at]!
      }
      // The inverse transform is the forward one with real and imaginary parts exchanged.
      const done = await (inverse ? referenceFft(lineIm, lineRe) : referenceFft(lineRe, lineIm))
      const [doneRe, doneIm] = inverse ? [done.im, done.re] : [done.re, done.im]
      for (let k = 0; k < after; k++) {
        nextRe[(o * after + k) * inner + i] = doneRe[k]!
        nextIm[(o * after + k) * inner + i] = doneIm[k]!
      }
    }
    shape = shape.with(axis, after)
    re = nextRe
    im = nextIm
  }
  if (order === 'transposed') {
    const [x, y, z] = [shape[0]!, shape[1]!, shape[2] ?? 1]
    const moved = (from: Float64Array) =>
      from.map((_, index) => {
        const [c, b, a] = [index % z, Math.floor(index / z) % x, Math.floor(index / z / x)]
        return from[(b * y + a) * z + c]!
      })
    re = moved(re)
    im = moved(im)
  }
  const result = new Float64Array(realOutput ? re.length : 2 * re.length)
  for (let index = 0; index < re.length; index++) {
    if (realOutput) result[index] = re[index]! * scale
    else {
      result[2 * index] = re[index]! * scale
      result[2 * index + 1] = im[index]! * scale
    }
  }
  return result
}
