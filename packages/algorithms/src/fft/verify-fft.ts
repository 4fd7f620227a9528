import { type DeviceGroup, type ElementArray, ranges } from '@tandem-gpu/core'
import { type ElementSource, readElements, streamChunkLength } from '../element-source.ts'
import { gatherFromPieces, gatherFromSlices } from '../gather-numbers.ts'
import { type Verification, verdict } from '../report.ts'
import { gatherSharded, type MatrixSlice, type ShardedMatrix } from '../sharded-matrix.ts'
import { type FftPlan, planFft, productOf, transformedCount } from './plan-fft.ts'
import { referenceTransform } from './reference-fft.ts'
import { filled, root } from './roots.ts'

/** A plan with its input and output. */
export interface FftProblem {
  readonly plan: FftPlan
  readonly source: ElementSource<'f32'>
  readonly input: ShardedMatrix<'f32'>
  readonly output: ShardedMatrix<'f32'>
}

/** Up to this many values, the whole transform is recomputed in f64. */
const mostCompared = 4_194_304
/** The maximum number of rows of a batch that are compared. */
const mostRows = 64
/**
 * The largest allowed relative error in the L2 norm: 4 · 2^-24 · log2 n, where n is the number of values that
 * contribute to one output.
 */
export function allowedError(plan: FftPlan): number {
  return 4 * 2 ** -24 * Math.max(1, Math.log2(transformedCount(plan)))
}

/**
 * Compares the result with a transform in f64, in the L2 norm: all values up to 4,194,304, and up to 64 rows
 * of a batch, including the first and the last. For larger arrays (of more than `most` values), compares 16
 * outputs with sums over all values and, unless the result is real, the energies of input and output
 * (Parseval).
 */
export async function verifyFft(
  group: DeviceGroup,
  problem: FftProblem,
  most = mostCompared,
): Promise<Verification> {
  const { plan, input, output } = problem
  const values = (matrix: ShardedMatrix, real: boolean) => (matrix.rows * matrix.columns) / (real ? 1 : 2)
  const count = Math.max(values(input, plan.realInput), values(output, plan.realOutput))
  if (count === 0) return verdict(true, 'there are no values', 0)
  if (count <= most) return compareAll(group, problem)
  const isBatch = plan.shape.length > 1 && !plan.axes.includes(0) && plan.order === 'natural'
  const rowValues = productOf(plan.shape.slice(1))
  return isBatch && rowValues <= most ? compareRows(group, problem, most) : compareSums(group, problem)
}

async function compareAll(
  group: DeviceGroup,
  { plan, source, input, output }: FftProblem,
): Promise<Verification> {
  const data =
    group.rankCount > 1
      ? await gatherSharded(group, input)
      : await readElements(source, 'f32', 0, input.rows * input.columns)
  const result = await gatherSharded(group, output)
  const errors = errorsOf(result, await referenceTransform(plan, data))
  return judged(plan, errors, `all ${result.length} numbers`)
}

/** Rows are independent transforms; each process compares some of those that its devices hold. */
async function compareRows(
  group: DeviceGroup,
  { plan, source, input, output }: FftProblem,
  most: number,
): Promise<Verification> {
  const rowValues = productOf(plan.shape.slice(1))
  const wanted = Math.min(mostRows, plan.shape[0]!, Math.max(2, Math.floor(most / rowValues)))
  const rows = new Set(
    Array.from({ length: wanted }, (_, i) =>
      Math.round((i * (plan.shape[0]! - 1)) / Math.max(1, wanted - 1)),
    ),
  )
  const real = plan.realInput || plan.realOutput
  const one = planFft({ ...plan, shape: [1, ...plan.shape.slice(1)], real })
  const found = await gatherFromSlices(group, output.slices, 3, async ({ row, rows: count, view }) => {
    const own: Errors[] = []
    for (const at of rows) {
      if (at < row || at >= row + count) continue
      const actual = await group.queue.read(view.block(at - row, 0, 1, output.columns), { to: 'owner' })
      const data = await readElements(source, 'f32', at * input.columns, input.columns)
      own.push(errorsOf(actual!, await referenceTransform(one, data)))
    }
    return joined(own)
  })
  return judged(plan, joined(found), `${rows.size} of ${plan.shape[0]} rows`)
}

/** Sums of squares of differences and of expected values, and the largest difference. */
type Errors = ArrayLike<number>

function errorsOf(actual: ArrayLike<number>, expected: ArrayLike<number>): Errors {
  let [differences, energy, largest] = [0, 0, 0]
  for (let i = 0; i < actual.length; i++) {
    const difference = actual[i]! - expected[i]!
    differences += difference * difference
    energy += expected[i]! * expected[i]!
    // Math.max would keep a NaN, which JSON cannot represent.
    if (!(Math.abs(difference) <= largest))
      largest = Number.isFinite(difference) ? Math.abs(difference) : Number.MAX_VALUE
  }
  return [differences, energy, largest]
}

const sumOf = (all: readonly ArrayLike<number>[], k: number) => all.reduce((sum, own) => sum + own[k]!, 0)

const joined = (all: readonly Errors[]): Errors => [
  sumOf(all, 0),
  sumOf(all, 1),
  Math.max(0, ...all.map((own) => own[2]!)),
]

const scientific = (value: number) => (value === 0 ? '0' : value.toExponential(2))

function judged(plan: FftPlan, errors: Errors, what: string): Verification {
  const error = errors[0] === 0 ? 0 : Math.sqrt(errors[0]! / errors[1]!)
  const allowed = allowedError(plan)
  const compared = `the relative error in the L2 norm is ${scientific(error)}, allowed ${scientific(allowed)}`
  return verdict(error <= allowed, `${what} against a transform in f64: ${compared}`, errors[2]!)
}

/**
 * An output that is compared with a sum over all values: its index along each axis of the transform's result,
 * before axes are exchanged.
 */
type Place = readonly number[]

/** Numbers of the axes of the result in the order in which it is stored, or back. */
const inOrder = ({ order }: FftPlan, axes: readonly number[]) =>
  order === 'transposed' ? axes.with(0, axes[1]!).with(1, axes[0]!) : axes

async function compareSums(group: DeviceGroup, problem: FftProblem): Promise<Verification> {
  const { plan, input, output } = problem
  const places = comparedPlaces(inOrder(plan, plan.outputShape))
  const size = 2 * places.length + 1
  const sums = await gatherFromSlices(group, input.slices, size, (slice) => sumInput(problem, slice, places))
  const totals = Array.from({ length: size }, (_, k) => sumOf(sums, k))
  const energies = await gatherFromPieces(group, output, 1, async ({ at, read }, result) => {
    result[0]! += energyOf(plan, await read(), at)
  })
  const energy = sumOf(energies, 0)

  const all: Errors[] = []
  for (const [index, place] of places.entries()) {
    const expected = totals.slice(2 * index, 2 * index + 2).map((sum) => sum * plan.scale)
    all.push(errorsOf(await readPlace(group, problem, place), expected))
  }
  const errors = joined(all)
  const allowed = allowedError(plan)
  // The root mean square of all outputs.
  const typical = Math.sqrt(energy / productOf(plan.shape))
  const error = Math.sqrt(errors[0]! / places.length) / typical
  const expectedEnergy = totals.at(-1)! * transformedCount(plan) * plan.scale ** 2
  const deviation = Math.abs(energy / expectedEnergy - 1)
  const energetic = plan.realOutput || deviation <= 2 * allowed
  const parseval = plan.realOutput
    ? ''
    : `; the energy of the result deviates from that of the input by ${scientific(deviation)}, allowed ${scientific(2 * allowed)}`
  const compared = `their root mean square error is ${scientific(error)} relative to that of all outputs, allowed ${scientific(allowed)}`
  return verdict(
    error <= allowed && energetic,
    `${places.length} outputs against sums in f64: ${compared}${parseval}`,
    errors[2]!,
  )
}

/** Four positions along the last axis with four combinations of the others, spread over the result. */
function comparedPlaces(shape: readonly number[]): Place[] {
  const place = (_: unknown, index: number) =>
    shape.map((length, axis) => {
      const at = axis === shape.length - 1 ? index : Math.floor(index / 4) * (axis + 1)
      return Math.floor((((at % 4) + 0.37) * length) / 4)
    })
  return Array.from({ length: 16 }, place)
}

/**
 * For each place, the real and the imaginary part of the sum over the values of one device; and the energy of
 * these values.
 */
async function sumInput(
  { plan, source, input }: FftProblem,
  { row, rows }: MatrixSlice<'f32'>,
  places: readonly Place[],
): Promise<Float64Array> {
  const { inputShape, shape, axes, realInput, realOutput, direction } = plan
  const sign = direction === 'forward' ? 1 : -1
  const last = shape.length - 1
  const lineLength = inputShape[last]!
  const numbers = realInput ? 1 : 2
  const halved = realInput || realOutput ? axes.at(-1)! : -1
  // Factors along the last axis, by position there.
  const columns = [...new Set(places.map((place) => place[last]!))]
  const tables: Float64Array[] = []
  for (const k of columns)
    tables.push(await filled(new Float64Array(2 * lineLength), (n) => factor(last, k, n)))
  // Lines between neighbours along each of the other axes.
  const strides = inputShape.slice(0, last).map((_, axis) => productOf(inputShape.slice(axis + 1, last)))
  const result = new Float64Array(2 * places.length + 1)
  const lineNumbers = lineLength * numbers
  const first = row * input.columns
  const linesAtOnce = Math.max(1, Math.floor(streamChunkLength / lineNumbers))
  for (const { first: start, count } of ranges(rows * input.columns, linesAtOnce * lineNumbers)) {
    const piece = await readElements(source, 'f32', first + start, count)
    for (let at = 0; at < count; at += lineNumbers) addLine(piece, at, (first + start + at) / lineNumbers)
  }
  return result

  function addLine(piece: ElementArray<'f32'>, start: number, line: number): void {
    const index = strides.map((stride, axis) => Math.floor(line / stride) % inputShape[axis]!)
    let energy = 0
    for (let i = 0; i < lineNumbers; i++) energy += piece[start + i]! * piece[start + i]!
    result[2 * places.length]! += energy
    const dots = tables.map((table) => {
      let [re, im] = [0, 0]
      for (let n = 0; n < lineLength; n++) {
        const x = piece[start + n * numbers]!
        const y = realInput ? 0 : piece[start + 2 * n + 1]!
        const [c, s] = [table[2 * n]!, table[2 * n + 1]!]
        re += x * c - y * s
        im += x * s + y * c
      }
      return [re, im] as const
    })
    for (const [i, place] of places.entries()) {
      let [re, im] = dots[columns.indexOf(place[last]!)]!
      for (let axis = 0; axis < last; axis++) {
        const [c, s] = factor(axis, place[axis]!, index[axis]!)
        ;[re, im] = [re * c - im * s, re * s + im * c]
      }
      result[2 * i]! += re
      if (!realOutput) result[2 * i + 1]! += im
    }
  }

  /** The factor of value n of an axis in output k. */
  function factor(axis: number, k: number, n: number): readonly [number, number] {
    if (!axes.includes(axis)) return [k === n ? 1 : 0, 0]
    const length = shape[axis]!
    const [c, s] = root((k * n) % length, length)
    // The omitted second half of a spectrum adds the conjugate of the first, and only the real part matters.
    const weight = realOutput && axis === halved && n !== 0 && 2 * n !== length ? 2 : 1
    return [weight * c, weight * sign * s]
  }
}

/**
 * Σ |value|² of a piece of the result that begins at flat index `start`; values of half a spectrum count for
 * both halves.
 */
function energyOf(plan: FftPlan, piece: ElementArray<'f32'>, start: number): number {
  let energy = 0
  if (!plan.realInput) {
    for (let i = 0; i < piece.length; i++) energy += piece[i]! * piece[i]!
    return energy
  }
  const halved = plan.axes.at(-1)!
  const axis = plan.order === 'transposed' && halved < 2 ? 1 - halved : halved
  const inner = productOf(plan.outputShape.slice(axis + 1))
  const [length, half] = [plan.shape[halved]!, plan.outputShape[axis]!]
  for (let i = 0; i < piece.length; i++) {
    const k = Math.floor((start + i) / 2 / inner) % half
    energy += (k === 0 || 2 * k === length ? 1 : 2) * piece[i]! * piece[i]!
  }
  return energy
}

/** Reads the numbers of one output, in every process. */
async function readPlace(
  group: DeviceGroup,
  { plan, output }: FftProblem,
  place: Place,
): Promise<ElementArray<'f32'>> {
  const at = inOrder(plan, place)
  const flat = plan.outputShape.reduce((index, length, axis) => index * length + at[axis]!, 0)
  const numbers = plan.realOutput ? 1 : 2
  const [row, column] = [Math.floor((flat * numbers) / output.columns), (flat * numbers) % output.columns]
  const slice = output.slices.find((one) => row >= one.row && row < one.row + one.rows)!
  return group.queue.read(slice.view.block(row - slice.row, column, 1, numbers))
}
