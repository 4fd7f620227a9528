import { type ElementReader, type ElementSource, readElements } from '../element-source.ts'
import type { Verification } from '../report.ts'
import { referenceJacobi, sweepRowsF32 } from './reference-jacobi.ts'

const u = 2 ** -24
/** A device may replace subnormal operands and results by zero (WGSL, "Floating point evaluation"). The four operations of a cell lose at most this. */
const flushed = 2 ** -124

export interface JacobiResult {
  readonly rows: number
  readonly columns: number
  readonly iterations: number
  readonly initial: ElementSource<'f32'>
  readonly source: ElementSource<'f32'> | undefined
  readonly final: ElementReader<'f32'>
  /** The state of `behind` sweeps earlier. It has no meaning where no sweep ran. */
  readonly previous: ElementReader<'f32'>
  readonly behind: number
  /** Largest change in the last sweep. */
  readonly residual: number | undefined
}

/**
 * Repeats all iterations in f64 where they are at most `fullCheckUpdates` cell updates: a sweep averages, so it does not enlarge earlier errors, and
 * adds at most 3·2^-24 of the largest value. Otherwise it repeats the last pass (one sweep, or a few fused ones) for every cell from the state
 * before it, and compares the residual too.
 */
export async function verifyJacobi(result: JacobiResult, fullCheckUpdates = 2 ** 28): Promise<Verification> {
  const { rows, columns, iterations } = result
  return rows * columns * iterations <= fullCheckUpdates ? fullCheck(result) : lastPassCheck(result)
}

async function fullCheck(result: JacobiResult): Promise<Verification> {
  const { rows, columns, iterations } = result
  const length = rows * columns
  const initial = await readElements(result.initial, 'f32', 0, length)
  const source = result.source && (await readElements(result.source, 'f32', 0, length))
  const state = await readElements(result.final, 'f32', 0, length)
  const expected = referenceJacobi({ rows, columns, ...(source && { source }) }, initial, iterations)
  const largest = Math.max(largestFinite(initial), largestFinite(expected))
  const largestSource = largestFinite(source ?? [])
  // No value in between exceeds the largest at the start plus what f adds in each sweep, and the part of f only grows.
  // A finite cell comes from finite cells alone. A cell that is not finite must be the same NaN or infinity.
  const bound = iterations * 3 * u * (largest + largestSource / 4) + iterations * flushed
  let maxError = 0
  let right = true
  for (let index = 0; index < length; index++) {
    if (Object.is(state[index]!, expected[index]!)) continue
    const error = Math.abs(state[index]! - expected[index]!)
    if (error === 0) continue
    if (!(error <= bound)) right = false
    maxError = Math.max(maxError, Number.isNaN(error) ? Number.POSITIVE_INFINITY : error)
  }
  return {
    checked: true,
    verified: right,
    verification: `every cell against ${iterations} iterations in f64, within ${bound.toExponential(2)} (3·2^-24 of the largest value an iteration)`,
    maxError,
  }
}

function largestFinite(values: Iterable<number>): number {
  let largest = 0
  for (const value of values) if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value))
  return largest
}

async function lastPassCheck(result: JacobiResult): Promise<Verification> {
  const { rows, columns, residual, behind } = result
  const band = Math.max(behind, Math.floor(4_194_304 / columns))
  let maxError = 0
  let different = 0
  let flushedCells = 0
  let change = 0
  for (let row = 1; row < rows - 1; row += band) {
    const count = Math.min(band, rows - 1 - row)
    // Each further sweep invalidates one more row at both ends, except at the boundary.
    const first = Math.max(0, row - behind)
    const length = Math.min(rows, row + count + behind) - first
    const source =
      result.source && (await readElements(result.source, 'f32', first * columns, length * columns))
    let expected = (await readElements(result.previous, 'f32', first * columns, length * columns)).slice()
    let before = expected.slice()
    for (let sweep = 0; sweep < behind; sweep++) {
      ;[before, expected] = [expected, before]
      sweepRowsF32(columns, before, expected, source, 1, length - 2)
    }
    const after = await readElements(result.final, 'f32', row * columns, count * columns)
    for (let line = 0; line < count; line++)
      for (let column = 1; column < columns - 1; column++) {
        const value = after[line * columns + column]!
        const at = (row - first + line) * columns + column
        change = Math.max(change, Math.abs(Math.fround(value - before[at]!)))
        if (value === expected[at]! || Object.is(value, expected[at]!)) continue
        const error = Math.abs(value - expected[at]!)
        if (error <= flushed) flushedCells++
        else different++
        maxError = Math.max(maxError, Number.isNaN(error) ? Number.POSITIVE_INFINITY : error)
      }
  }
  const right =
    different === 0 &&
    (residual === undefined || Object.is(residual, change) || Math.abs(residual - change) <= 2 * flushed)
  return {
    checked: true,
    verified: right,
    verification: `the last ${behind === 1 ? 'sweep' : `${behind} sweeps`} repeated for every cell, bit for bit${residual === undefined ? '' : ', with the residual'}; ${different} cells differ${
      flushedCells === 0
        ? ''
        : `; in ${flushedCells} cells the device takes subnormal numbers for zero, as WGSL allows`
    }`,
    maxError,
  }
}
