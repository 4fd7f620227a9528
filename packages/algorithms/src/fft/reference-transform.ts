import type { FftPlan } from './plan-fft.ts'
import { referenceFft } from './reference-fft.ts'

/** The transform of an array by a plan, in f64. Numbers are in memory order, complex values as pairs. */
export function referenceTransform(plan: FftPlan, input: ArrayLike<number>): Float64Array {
  const { inputShape, realInput, realOutput, direction, scale, order } = plan
  const count = inputShape.reduce((product, length) => product * length, 1)
  let shape = [...inputShape]
  let re = Float64Array.from({ length: count }, (_, index) => input[realInput ? index : 2 * index]!)
  let im = Float64Array.from({ length: count }, (_, index) => (realInput ? 0 : input[2 * index + 1]!))
  const inverse = direction === 'inverse'
  for (const { axis, from, to } of plan.passes) {
    const length = plan.shape[axis]!
    const [before, after] = [shape[axis]!, to === 'half' ? Math.floor(length / 2) + 1 : length]
    const outer = shape.slice(0, axis).reduce((product, one) => product * one, 1)
    const inner = shape.slice(axis + 1).reduce((product, one) => product * one, 1)
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
      const done = inverse ? referenceFft(lineIm, lineRe) : referenceFft(lineRe, lineIm)
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
