import { type DeviceGroup, type ElementArray, GpuError } from '@tandem-gpu/core'
import { type ElementSource, readElements, streamChunkLength } from '../element-source.ts'
import { gatherNumbers } from '../gather-numbers.ts'
import type { Verification } from '../report.ts'
import { gatherSharded, type MatrixSlice, type ShardedMatrix } from '../sharded-matrix.ts'
import { inPieces, withTurns } from './pauses.ts'
import { type FftPlan, planFft } from './plan-fft.ts'
import { referenceTransform } from './reference-fft.ts'
import { root } from './roots.ts'

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
 * The number of positions along the last axis, and of combinations of the other axes, at which larger results
 * are compared: 16 outputs.
 */
const comparedColumns = 4
const comparedRows = 4

/**
 * The largest allowed relative error in the L2 norm: 4 · 2^-24 · log2 n, where n is the number of values that
 * contribute to one output.
 */
export function allowedError(plan: FftPlan): number {
  const count = plan.axes.reduce((product, axis) => product * plan.shape[axis]!, 1)
  return 4 * 2 ** -24 * Math.max(1, Math.log2(count))
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
  if (count === 0) return { checked: true, verified: true, verification: 'there are no values', maxError: 0 }
  if (count <= most) return compareAll(group, problem)
  const isBatch = plan.shape.length > 1 && !plan.axes.includes(0) && plan.order === 'natural'
  const rowValues = plan.shape.slice(1).reduce((product, length) => product * length, 1)
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
  const sums = new ErrorSums()
  sums.add(result, await referenceTransform(plan, data))
  return judged(plan, [sums.differences, sums.energy, sums.largest], `all ${result.length} numbers`)
}

/** Rows are independent transforms; each process compares some of those that its devices hold. */
async function compareRows(
  group: DeviceGroup,
  { plan, source, input, output }: FftProblem,
  most: number,
): Promise<Verification> {
  const rowValues = plan.shape.slice(1).reduce((product, length) => product * length, 1)
  const wanted = Math.min(mostRows, plan.shape[0]!, Math.max(2, Math.floor(most / rowValues)))
  const rows = new Set(
    Array.from({ length: wanted }, (_, i) =>
      Math.round((i * (plan.shape[0]! - 1)) / Math.max(1, wanted - 1)),
    ),
  )
  const one = planFft({
    ...plan,
    shape: [1, ...plan.shape.slice(1)],
    real: plan.realInput || plan.realOutput,
  })
  const parts = new Map<number, ErrorSums>()
  for (const [index, { device, row, rows: count, view }] of output.slices.entries()) {
    const sums = new ErrorSums()
    parts.set(index, sums)
    for (const at of rows) {
      if (at < row || at >= row + count) continue
      const actual = await group.queue.read(view.block(at - row, 0, 1, output.columns), { to: device.rank })
      if (actual === undefined) continue
      const data = await readElements(source, 'f32', at * input.columns, input.columns)
      sums.add(actual, await referenceTransform(one, data))
    }
  }
  const found = await gatherNumbers(group, group.devices, 3, (index) => {
    const sums = parts.get(index)
    return sums && [sums.differences, sums.energy, sums.largest]
  })
  let [differences, energy, largest] = [0, 0, 0]
  for (let at = 0; at < found.length; at += 3) {
    differences += found[at]!
    energy += found[at + 1]!
    largest = Math.max(largest, found[at + 2]!)
  }
  return judged(plan, [differences, energy, largest], `${rows.size} of ${plan.shape[0]} rows`)
}

/** Sums of squares of differences and of expected values. */
class ErrorSums {
  differences = 0
  energy = 0
  largest = 0

  add(actual: ArrayLike<number>, expected: ArrayLike<number>): void {
    for (let i = 0; i < expected.length; i++) {
      const difference = actual[i]! - expected[i]!
      this.differences += difference * difference
      this.energy += expected[i]! * expected[i]!
      // Math.max would keep a NaN, which JSON cannot represent.
      if (!(Math.abs(difference) <= this.largest)) this.largest = finite(Math.abs(difference))
    }
  }
}

const scientific = (value: number) => (value === 0 ? '0' : value.toExponential(2))

const finite = (value: number) => (Number.isFinite(value) ? value : Number.MAX_VALUE)

function judged(
  plan: FftPlan,
  [differences, energy, largest]: readonly [number, number, number],
  what: string,
): Verification {
  const error = differences === 0 ? 0 : Math.sqrt(differences / energy)
  const allowed = allowedError(plan)
  return {
    checked: true,
    verified: error <= allowed,
    verification: `${what} against a transform in f64: the relative error in the L2 norm is ${scientific(error)}, allowed ${scientific(allowed)}`,
    maxError: largest,
  }
}

/**
 * An output that is compared with a sum over all values: its index along each axis of the transform's result,
 * before axes are exchanged.
 */
type Place = readonly number[]

async function compareSums(group: DeviceGroup, problem: FftProblem): Promise<Verification> {
  const { plan, output } = problem
  const shape =
    plan.order === 'transposed'
      ? plan.outputShape.with(0, plan.outputShape[1]!).with(1, plan.outputShape[0]!)
      : plan.outputShape
  const places = comparedPlaces(shape)
  const size = 2 * places.length + 1
  const ownInput = new Map<number, Float64Array>()
  for (const [index, slice] of problem.input.slices.entries())
    if (slice.device.local) ownInput.set(index, await sumInput(problem, slice, places))
  const sums = await gatherNumbers(group, group.devices, size, (index) => ownInput.get(index))
  const total = new Float64Array(size)
  for (let at = 0; at < sums.length; at++) total[at % size]! += sums[at]!

  const ownEnergy = new Map<number, readonly [number]>()
  for (const [index, { device, view }] of output.slices.entries()) {
    let energy = 0
    if (view.length > 0)
      for (let first = 0; first < view.length; first += streamChunkLength) {
        const length = Math.min(streamChunkLength, view.length - first)
        const piece = await group.queue.read(view.reshape(1, view.length).slice(first, length), {
          to: device.rank,
        })
        if (piece !== undefined) energy += energyOf(plan, piece, slicePlace(index) + first)
      }
    ownEnergy.set(index, [energy])
  }
  const energies = await gatherNumbers(group, group.devices, 1, (index) => ownEnergy.get(index))
  const energy = energies.reduce((sum, one) => sum + one, 0)

  let [differences, largest] = [0, 0]
  for (const [index, place] of places.entries()) {
    const expected = [total[2 * index]! * plan.scale, total[2 * index + 1]! * plan.scale]
    const found = await readPlace(group, problem, shape, place)
    for (let part = 0; part < found.length; part++) {
      const difference = Math.abs(found[part]! - expected[part]!)
      differences += difference * difference
      if (!(difference <= largest)) largest = finite(difference)
    }
  }
  const count = plan.shape.reduce((product, length) => product * length, 1)
  const allowed = allowedError(plan)
  // The root mean square of all outputs.
  const typical = Math.sqrt(energy / count)
  const error = Math.sqrt(differences / places.length) / typical
  const transformed = plan.axes.reduce((product, axis) => product * plan.shape[axis]!, 1)
  const expectedEnergy = total[size - 1]! * transformed * plan.scale * plan.scale
  const deviation = Math.abs(energy / expectedEnergy - 1)
  const energetic = plan.realOutput || deviation <= 2 * allowed
  const parseval = plan.realOutput
    ? ''
    : `; the energy of the result deviates from that of the input by ${scientific(deviation)}, allowed ${scientific(2 * allowed)}`
  return {
    checked: true,
    verified: error <= allowed && energetic,
    verification: `${places.length} outputs against sums in f64: their root mean square error is ${scientific(error)} relative to that of all outputs, allowed ${scientific(allowed)}${parseval}`,
    maxError: largest,
  }

  function slicePlace(index: number): number {
    const { row } = output.slices[index]!
    return row * output.columns
  }
}

/** Four positions along the last axis with four combinations of the others, spread over the result. */
function comparedPlaces(shape: readonly number[]): Place[] {
  const spread = (length: number, i: number, of: number) => Math.floor(((i + 0.37) * length) / of)
  const places: Place[] = []
  for (let row = 0; row < comparedRows; row++)
    for (let column = 0; column < comparedColumns; column++)
      places.push(
        shape.map((length, axis) =>
          axis === shape.length - 1
            ? spread(length, column, comparedColumns)
            : spread(length, (row * (axis + 1)) % comparedRows, comparedRows),
        ),
      )
  return places
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
  for (const k of columns) {
    const table = new Float64Array(2 * lineLength)
    const fill = (from: number, to: number) => {
      for (let n = from; n < to; n++) [table[2 * n], table[2 * n + 1]] = factor(last, k, n)
    }
    await withTurns(inPieces(lineLength, fill))
    tables.push(table)
  }
  const result = new Float64Array(2 * places.length + 1)
  const lineNumbers = lineLength * numbers
  const first = row * input.columns
  const lines = (rows * input.columns) / lineNumbers
  const linesAtOnce = Math.max(1, Math.floor(streamChunkLength / lineNumbers))
  for (let line = 0; line < lines; line += linesAtOnce) {
    const height = Math.min(linesAtOnce, lines - line)
    const piece = await readElements(source, 'f32', first + line * lineNumbers, height * lineNumbers)
    for (let at = 0; at < height; at++) addLine(piece, at * lineNumbers, first / lineNumbers + line + at)
  }
  return result

  function addLine(piece: ElementArray<'f32'>, start: number, line: number): void {
    const index: number[] = []
    let rest = line
    for (let axis = last - 1; axis >= 0; axis--) {
      index[axis] = rest % inputShape[axis]!
      rest = Math.floor(rest / inputShape[axis]!)
    }
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
  const inner = plan.outputShape.slice(axis + 1).reduce((product, length) => product * length, 1)
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
  shape: readonly number[],
  place: Place,
): Promise<ElementArray<'f32'>> {
  const at = plan.order === 'transposed' ? place.with(0, place[1]!).with(1, place[0]!) : place
  const lengths = plan.order === 'transposed' ? shape.with(0, shape[1]!).with(1, shape[0]!) : shape
  const numbers = plan.realOutput ? 1 : 2
  let flat = 0
  for (const [axis, length] of lengths.entries()) flat = flat * length + at[axis]!
  const [row, column] = [Math.floor((flat * numbers) / output.columns), (flat * numbers) % output.columns]
  const slice = output.slices.find((one) => row >= one.row && row < one.row + one.rows)
  if (slice === undefined) throw new GpuError('validation', `No slice of the output has row ${row}.`)
  return group.queue.read(slice.view.block(row - slice.row, column, 1, numbers))
}
