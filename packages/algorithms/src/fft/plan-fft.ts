import { type Device, describedValue, requireCount } from '@tandem-gpu/core'
import { characterOf } from '../device-character.ts'
import { invalid } from '../require-result.ts'
import { lineRadicesOf, paddedLength, type Radix, radicesOf, squareSides } from './factors.ts'

/** `forward`: Σ x · exp(−2πi · k · n / N). `inverse`: the same with exp(+2πi …). */
export type FftDirection = 'forward' | 'inverse'

/**
 * The scaling of the result: `backward` by 1/n for the inverse transform, `forward` by 1/n for the forward
 * transform, `ortho` by 1/√n for both.
 */
export type FftNorm = 'backward' | 'ortho' | 'forward'

/** `transposed`: the first two axes of the result are exchanged, which saves an exchange between devices. */
export type FftOrder = 'natural' | 'transposed'

/** The device limits that a plan respects. */
export interface FftLimits {
  /**
   * If false, nothing goes through workgroup memory, and all kernels are the generic ones for lines of any
   * length.
   */
  readonly lines: boolean
  readonly workgroupMemoryByteLength: number
  readonly workgroupInvocations: number
}

/** Options of `planFft`. */
export interface FftPlanOptions {
  /**
   * The shape of the array, or of the real array if one side of the transform is real. The last axis is
   * contiguous.
   */
  readonly shape: readonly number[]
  /** The axes to transform; negative ones count from the end. Default: all. */
  readonly axes?: readonly number[] | undefined
  /**
   * Whether the transform is from real numbers (forward) or to real numbers (inverse). The other side is the
   * first half of the spectrum, with ⌊N/2⌋ + 1 values along the last axis that `axes` names. Default false.
   */
  readonly real?: boolean | undefined
  /** Default `forward`. */
  readonly direction?: FftDirection | undefined
  /** Default `backward`. */
  readonly norm?: FftNorm | undefined
  /** Default `natural`. */
  readonly order?: FftOrder | undefined
  readonly limits: FftLimits
}

/** A line is transformed in stages (Stockham), or by a convolution with a chirp (Bluestein). */
export interface StagedMethod {
  /** In workgroup memory, in one kernel; or one dispatch for each stage, with values in global memory between. */
  readonly kind: 'line' | 'stages'
  readonly length: number
  /**
   * The number of values in all stages: the length of the line, or of the convolution with a chirp, which
   * runs the stages twice.
   */
  readonly points: number
  readonly radices: readonly Radix[]
  readonly convolves: boolean
}

/** A long line is transformed as a square: its columns, then its rows, each in one kernel. */
export interface SquareMethod {
  readonly kind: 'square'
  readonly length: number
  readonly columns: StagedMethod
  readonly rows: StagedMethod
}

/** Methods for complex numbers. */
export type ComplexMethod = StagedMethod | SquareMethod

/** Real numbers are paired, which makes complex lines of half the length. */
export interface PackedMethod {
  readonly kind: 'packed'
  /** The number of real numbers, which is even. */
  readonly length: number
  readonly half: ComplexMethod
}

export type FftMethod = ComplexMethod | PackedMethod

/** The transform of all lines along one axis of the array. */
export interface FftPass {
  readonly axis: number
  readonly method: FftMethod
  /**
   * The values of a line before and after the pass: complex numbers, real numbers, or the first half of a
   * spectrum.
   */
  readonly from: FftLineKind
  readonly to: FftLineKind
  /** Whether it exchanges the first two axes when it stores its lines. */
  readonly transposes: boolean
}

export type FftLineKind = 'complex' | 'real' | 'half'

/** The number of values in a line of one kind whose whole transform has `length` values. */
export const lengthOf = (length: number, kind: FftLineKind) =>
  kind === 'half' ? Math.floor(length / 2) + 1 : length

/** How an array is transformed: pure data, the same for any number of devices. */
export interface FftPlan {
  readonly inputShape: readonly number[]
  /** If `order` is `transposed`, with the first two axes exchanged. */
  readonly outputShape: readonly number[]
  /** Whether the input and the output are arrays of real numbers. */
  readonly realInput: boolean
  readonly realOutput: boolean
  readonly shape: readonly number[]
  readonly axes: readonly number[]
  readonly direction: FftDirection
  readonly norm: FftNorm
  readonly order: FftOrder
  /** The factor by which every value of the result is multiplied. */
  readonly scale: number
  /** In execution order. */
  readonly passes: readonly FftPass[]
  readonly limits: FftLimits
}

/**
 * If the axis is not contiguous, longer lines take two passes: in one pass, fewer neighbouring columns would
 * fit, and memory accesses would be shorter.
 */
const longestColumn = 1024

/**
 * Longer lines take two passes: even with `halves`, their values would fill the memory of a workgroup, and no
 * other workgroup would run concurrently.
 */
const longestLine = 16_384

/** A group has at least this many neighbouring columns, which span 64 bytes. */
export const fewestColumns = 8

/** The number of values that an invocation holds at a time, unless a radix is greater. */
const mostValues = 16

/** The limits that all devices of a group support. `lines` is false if barriers are slow on them. */
export function fftLimits(devices: readonly Device[]): FftLimits {
  return {
    lines: devices.every(({ info }) => characterOf(info).fastBarriers),
    workgroupMemoryByteLength: Math.min(...devices.map(({ limits }) => limits.maxWorkgroupMemoryByteLength)),
    workgroupInvocations: Math.min(...devices.map(({ limits }) => limits.maxWorkgroupInvocations)),
  }
}

/** Plans a transform. Throws `validation` for invalid shapes, axes and combinations. */
export function planFft(options: FftPlanOptions): FftPlan {
  const { direction = 'forward', norm = 'backward', order = 'natural', real = false, limits } = options
  const shape = requireShape(options.shape)
  const axes = requireAxes(options.axes, shape.length)
  if (order === 'transposed' && shape.length !== 2 && shape.length !== 3)
    throw invalid(
      `The order 'transposed' needs an array of two or three axes; the shape has ${shape.length}.`,
    )
  const halved = axes.at(-1)!
  if (real && shape[halved] === 0)
    throw invalid(`Axis ${halved} of a real transform is empty; it needs at least one value.`)
  const spectrum = real ? shape.with(halved, lengthOf(shape[halved]!, 'half')) : shape
  const forward = direction === 'forward'
  const passes = sequenceOf(axes, real ? halved : undefined, forward).map((axis, index): FftPass => {
    const isReal = real && axis === halved
    const transposes = order === 'transposed' && index === axes.length - 1
    return {
      axis,
      // Arrays without values also have plans.
      method: axisMethod(shape, axis, isReal && !transposes, limits),
      from: !isReal ? 'complex' : forward ? 'real' : 'half',
      to: !isReal ? 'complex' : forward ? 'half' : 'real',
      transposes,
    }
  })
  const count = transformedCount({ axes, shape })
  const scaled = norm === 'ortho' || (norm === 'backward') === (direction === 'inverse')
  const result = forward ? spectrum : shape
  return {
    shape,
    inputShape: forward ? shape : spectrum,
    outputShape: order === 'transposed' ? [result[1]!, result[0]!, ...result.slice(2)] : result,
    realInput: real && forward,
    realOutput: real && !forward,
    axes,
    direction,
    norm,
    order,
    scale: !scaled || count === 0 ? 1 : norm === 'ortho' ? 1 / Math.sqrt(count) : 1 / count,
    passes,
    limits,
  }
}

/** The shapes of a transform's input and output, and which of them is real. Throws as `planFft` does. */
export function fftShapes(
  options: Omit<FftPlanOptions, 'limits'>,
): Pick<FftPlan, 'inputShape' | 'outputShape' | 'realInput' | 'realOutput'> {
  const limits = { lines: false, workgroupMemoryByteLength: 0, workgroupInvocations: 1 }
  const { inputShape, outputShape, realInput, realOutput } = planFft({ ...options, limits })
  return { inputShape, outputShape, realInput, realOutput }
}

/**
 * The order of the passes. The real axis is the first of a forward transform and the last of an inverse one.
 * The other axes follow from the last to the first; but if the real axis comes last, the first axis comes
 * first, so that the array moves between devices at one end.
 */
function sequenceOf(
  axes: readonly number[],
  halved: number | undefined,
  forward: boolean,
): readonly number[] {
  const descending = axes.filter((axis) => axis !== halved).sort((a, b) => b - a)
  if (halved === undefined) return descending
  if (forward) return [halved, ...descending]
  const first = descending.filter((axis) => axis === 0)
  return [...first, ...descending.filter((axis) => axis !== 0), halved]
}

/** The number of values of an array. */
export const productOf = (shape: readonly number[]) =>
  shape.reduce<number>((product, length) => product * length, 1)

/** The number of values that contribute to one output. */
export const transformedCount = ({ axes, shape }: Pick<FftPlan, 'axes' | 'shape'>) =>
  productOf(axes.map((axis) => shape[axis]!))

/** Whether the lines of an axis are contiguous. */
export function isContiguous(shape: readonly number[], axis: number): boolean {
  return shape.slice(axis + 1).every((length) => length === 1)
}

/**
 * `packs`: whether the lines are real on one side and can be paired, which also requires contiguous lines of
 * even length.
 */
function axisMethod(shape: readonly number[], axis: number, packs: boolean, limits: FftLimits): FftMethod {
  const length = Math.max(1, shape[axis]!)
  const contiguous = isContiguous(shape, axis)
  const method = methodOf(length, contiguous, limits)
  if (!packs || !contiguous || length % 2 === 1) return method
  const line = fittingLine(length / 2, contiguous, limits, { mirrors: true })
  if (line !== undefined) return { kind: 'packed', length, half: line }
  const half = methodOf(length / 2, contiguous, limits)
  const isSlow = method.kind !== 'line' && !isMirrored(half)
  return isSlow ? { kind: 'packed', length, half } : method
}

/** Whether the kernel of a line of paired real numbers also makes or reads half a spectrum. */
export function isMirrored(half: ComplexMethod): half is StagedMethod {
  return half.kind === 'line' && !half.convolves
}

function methodOf(length: number, contiguous: boolean, limits: FftLimits): ComplexMethod {
  const own = radicesOf(length)
  const points = own === undefined ? paddedLength(length) : length
  const radices = own ?? radicesOf(points)!
  // Of convolutions, only long powers of two have few large radices, as lines do (8191: 1.04 times as fast as up to 16).
  const isLongPower = points >= 8192 && 2 ** Math.round(Math.log2(points)) === points
  const line = fittingLine(length, contiguous, limits, own || isLongPower ? { points } : { points, radices })
  if (line !== undefined) return line
  const sides = squareSides(length, longestColumn)?.map((side) => fittingLine(side, false, limits))
  const [columns, rows] = sides ?? []
  if (columns && rows) return { kind: 'square', length, columns, rows }
  return { kind: 'stages', length, points, radices, convolves: points !== length }
}

/**
 * The method with one kernel for each line, or for the minimum number of neighbouring columns, if they fit
 * into a workgroup. `points`: the length of a convolution with a chirp.
 */
function fittingLine(
  length: number,
  contiguous: boolean,
  limits: FftLimits,
  given: { readonly mirrors?: boolean; readonly points?: number; readonly radices?: readonly Radix[] } = {},
): StagedMethod | undefined {
  const { mirrors = false, points = length, radices = lineRadicesOf(points, contiguous, mirrors) } = given
  if (radices === undefined || !limits.lines || points > (contiguous ? longestLine : longestColumn))
    return undefined
  const lines = contiguous ? 1 : fewestColumns
  const most = Math.floor(limits.workgroupInvocations / lines)
  const fits =
    lineThreads(points, radices, most, 'few') !== undefined &&
    tileByteLength(points, radices, lines, 4, mirrors) <= limits.workgroupMemoryByteLength
  return fits ? { kind: 'line', length, points, radices, convolves: points !== length } : undefined
}

/**
 * Bytes of workgroup memory if each value occupies `byteLength` bytes: one row for each butterfly of the
 * first stage, with one element of padding after each row; and one more row if it mirrors real numbers in
 * pairs.
 */
export function tileByteLength(
  points: number,
  radices: readonly Radix[],
  lines: number,
  byteLength: number,
  mirrors = false,
): number {
  if (radices.length === 1 && !mirrors) return 0
  return (points / radices[0]! + (mirrors ? 1 : 0)) * (radices[0]! + 1) * lines * byteLength
}

/**
 * The number of invocations for a line, such that the stages leave as few as possible idle and each
 * invocation holds at most 16 values or one butterfly. Among equally good numbers, `few` selects the smallest
 * and `many` the largest. Undefined if more than `most` are needed.
 */
export function lineThreads(
  points: number,
  radices: readonly Radix[],
  most: number,
  among: 'few' | 'many',
): number | undefined {
  let best: number | undefined
  let least = Number.POSITIVE_INFINITY
  const held = Math.max(mostValues, ...radices)
  const fewest = Math.ceil(points / held)
  for (let threads = fewest; threads <= Math.min(most, points); threads++) {
    const counts = radices.map((radix) => Math.ceil(points / radix / threads))
    if (counts.some((count, stage) => count * radices[stage]! > held)) continue
    const slots = counts.reduce((sum, count, stage) => sum + count * radices[stage]! * threads, 0)
    if (slots < least || (slots === least && among === 'many')) {
      least = slots
      best = threads
    }
    if (least === points * radices.length && among === 'few') break
  }
  return best
}

function requireShape(shape: unknown): readonly number[] {
  if (!Array.isArray(shape))
    throw invalid(`The shape is ${describedValue(shape)}; it must be an array of the lengths of the axes.`)
  if (shape.length === 0) throw invalid('The shape has no axes; it needs at least one.')
  for (const [axis, length] of shape.entries()) requireCount(length, `The length of axis ${axis}`)
  return [...shape]
}

function requireAxes(axes: unknown, rank: number): readonly number[] {
  if (axes === undefined) return Array.from({ length: rank }, (_, axis) => axis)
  if (!Array.isArray(axes))
    throw invalid(`The axes are ${describedValue(axes)}; they must be an array of numbers.`)
  if (axes.length === 0) throw invalid('The list of axes is empty; a transform needs at least one.')
  const found = axes.map((axis: unknown) => {
    if (!Number.isInteger(axis) || (axis as number) < -rank || (axis as number) >= rank)
      throw invalid(
        `The axis ${describedValue(axis)} does not exist: the axes of the shape are 0 to ${rank - 1}, or −${rank} to −1 counted from the end.`,
      )
    return ((axis as number) + rank) % rank
  })
  if (new Set(found).size < found.length) throw invalid(`The axes ${axes.join(', ')} contain a duplicate.`)
  return found
}
