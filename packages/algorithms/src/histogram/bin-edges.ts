import { describedValue, GpuError, requireCount } from '@tandem-gpu/core'
import { bitsOfValue } from '../reduction/reference-reduction.ts'
import { invalid } from '../require-result.ts'

/** Types of elements that can be counted. */
export type HistogramType = 'f32' | 'i32' | 'u32'

/** The maximum number of bins: more would need more memory than their counts are worth. */
const mostBins = 2 ** 24

/**
 * The bounds of bins: bin k holds `edges[k] <= x < edges[k + 1]`, and the last bin includes its upper edge.
 */
export interface BinEdges {
  readonly type: HistogramType
  /** Ascending, one more than the number of bins; for f32, representable in f32. */
  readonly edges: Float64Array
  /**
   * The keys of the smallest element of each bin, and of the largest element of the last one (see
   * bin-of.part.wgsl).
   */
  readonly keys: Uint32Array<ArrayBuffer>
  /** The number of bins that an element can reach; integers cannot reach the others. */
  readonly reachable: number
  readonly guess: BinGuess
}

/** The arithmetic that finds most bins directly; the members are those of bin-of.part.wgsl. */
export interface BinGuess {
  readonly low: number
  readonly shift: number
  readonly scale: number
  readonly margin: number
}

/** Every element is searched for. */
const noGuess: BinGuess = { low: 0, shift: 0, scale: 0, margin: 1 }

/**
 * The edges of `bins` bins of equal width from `low` to `high`, as NumPy computes them: in f64, then rounded
 * to the elements' type for f32. Throws `validation` if they are not finite and ascending.
 */
export function evenEdges(type: HistogramType, bins: number, low: number, high: number): BinEdges {
  requireBins(bins)
  for (const [name, value] of Object.entries({ low, high }))
    if (!Number.isFinite(type === 'f32' ? Math.fround(value) : value))
      throw invalid(`The end ${name} of the bins is ${value}; it must be a finite ${type}.`)
  if (low > high) throw invalid(`The bins end at ${high}, which is below ${low}, where they begin.`)
  // NumPy widens an empty range.
  const [start, stop] = low === high ? [low - 0.5, high + 0.5] : [low, high]
  const step = (stop - start) / bins
  const edges = Float64Array.from({ length: bins + 1 }, (_, k) => (k === bins ? stop : k * step + start))
  const rounded = type === 'f32' ? edges.map(Math.fround) : edges
  return { ...edgesOf(type, rounded), guess: guessOf(type, rounded) }
}

/**
 * Bins between `edges`, which must ascend; bins between equal edges are empty, except for the last. Throws
 * `validation`.
 */
export function givenEdges(type: HistogramType, given: ArrayLike<number>): BinEdges {
  const edges = Float64Array.from(given)
  if (edges.length < 2) throw invalid(`There are ${edges.length} edges; bins need at least 2.`)
  requireBins(edges.length - 1)
  for (const [k, edge] of edges.entries()) {
    if (Number.isNaN(edge)) throw invalid(`Edge ${k} is ${describedValue(given[k])}; it must be a number.`)
    if (k > 0 && edge < edges[k - 1]!)
      throw invalid(
        `Edge ${k} is ${edge}, below edge ${k - 1} (${edges[k - 1]}): edges must be in ascending order.`,
      )
  }
  return edgesOf(type, edges)
}

function requireBins(bins: number): void {
  requireCount(bins, 'The number of bins', 1)
  if (bins > mostBins)
    throw new GpuError('too-large', `A histogram can have at most ${mostBins} bins, not ${bins}.`)
}

function edgesOf(type: HistogramType, edges: Float64Array): BinEdges {
  const bins = edges.length - 1
  const keys = Uint32Array.from(edges, (edge, k) => keyOfEdge(type, edge, k === bins))
  return { type, edges, keys, reachable: reachableBins(type, edges), guess: noGuess }
}

function reachableBins(type: HistogramType, edges: Float64Array): number {
  const bins = edges.length - 1
  if (type === 'f32') return bins
  const [least, greatest] = rangeOf(type)
  if (edges[bins]! < least) return 0
  const beyond = edges.findIndex((edge) => Math.ceil(edge) > greatest)
  return beyond < 0 ? bins : Math.min(bins, beyond)
}

function rangeOf(type: 'i32' | 'u32'): readonly [least: number, greatest: number] {
  return type === 'u32' ? [0, 4294967295] : [-2147483648, 2147483647]
}

/**
 * The key of the smallest element that is not below the edge; for the last edge, of the largest element that
 * is not above it.
 */
function keyOfEdge(type: HistogramType, edge: number, last: boolean): number {
  if (type === 'f32') {
    const rounded = Math.fround(edge)
    const bits = bitsOfValue(type, rounded + 0)
    const key = bits >= 0x80000000 ? ~bits >>> 0 : bits + 0x80000000
    // Adjacent numbers have adjacent keys; between those of 0 and of the greatest below is one that no element has.
    return last ? key - Number(rounded > edge) : key + Number(rounded < edge)
  }
  const [least, greatest] = rangeOf(type)
  const whole = last ? Math.floor(edge) : Math.ceil(edge)
  return (Math.min(greatest, Math.max(least, whole)) - least) >>> 0
}

/**
 * What finds the bin of an element x between even edges: t = (x - low) · scale, whose whole part is the bin
 * wherever its fraction is at least `margin` away from 0 and 1. In units of a bin, with u = 2^-24:
 *
 * - f32: the difference, `scale`, the product and its distance from the middle of a bin are each rounded
 *   once: 4·u·t. An edge and `low` are within u·max(|low|, |high|) of where they would be unrounded. The
 *   difference may be flushed to zero below 2^-126.
 * - Integers: x stands for the middle of [x, x + 1), so that edges at whole numbers are half a unit away from
 *   all elements. The difference of keys is exact, its conversion to f32, the sum with `shift`, `scale`, the
 *   product and its distance from the middle of a bin are rounded: 5·u·t, and `shift` by u. Where edges are
 *   not whole, an element may be up to half a unit on the wrong side of one.
 *
 * The margin is twice that. Where it leaves less than half of a bin, every element is searched for.
 */
function guessOf(type: HistogramType, edges: Float64Array): BinGuess {
  const bins = edges.length - 1
  const [low, high] = [edges[0]!, edges[bins]!]
  const scale = Math.fround(bins / (high - low))
  if (!Number.isFinite(scale) || scale < 2 ** -126) return noGuess
  const unit = 2 ** -24
  let margin: number
  let start: number
  let shift = 0
  if (type === 'f32') {
    const magnitude = Math.max(Math.abs(low), Math.abs(high))
    margin = 2 * (4 * unit * bins + scale * (2 * unit * magnitude + 2 ** -126))
    start = bitsOfValue(type, low + 0)
  } else {
    const whole = edges.every(Number.isInteger)
    const first = Math.ceil(low)
    const [least, greatest] = rangeOf(type)
    if (first < least || high > greatest + 1) return noGuess
    start = first - least
    shift = Math.fround(first - low + 0.5)
    margin = 2 * (5 * unit * bins + unit * scale) + (whole ? 0 : 0.5 * scale)
  }
  if (margin > 0.25) return noGuess
  return { low: start, shift, scale, margin: Math.fround(margin) }
}
