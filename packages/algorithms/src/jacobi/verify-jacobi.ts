import type { ElementSource } from '../element-source.ts'
import type { Verification } from '../report.ts'
import { around, type CellReader, type Rectangle, rowReader } from './jacobi-cells.ts'
import { referenceJacobi, sweepRowsF32 } from './reference-jacobi.ts'

const u = 2 ** -24
/**
 * A device may replace subnormal operands and results by zero (WGSL, "Floating point evaluation"). The four
 * operations of a cell lose at most this much.
 */
const flushed = 2 ** -124

export interface JacobiResult {
  readonly rows: number
  readonly columns: number
  readonly iterations: number
  readonly initial: ElementSource<'f32'>
  readonly source: ElementSource<'f32'> | undefined
  /**
   * The cells that this process checks. All processes together check all cells but the rows at the top and
   * the bottom, which never change.
   */
  readonly places: readonly Rectangle[]
  /** Reads cells within `places`. */
  readonly final: CellReader
  /**
   * Reads the state of `behind` sweeps earlier, within `places` and up to the same distance around them.
   * Undefined contents if no sweep ran.
   */
  readonly previous: CellReader
  readonly behind: number
  /** Largest change in the last sweep. */
  readonly residual: number | undefined
  /** Returns the findings of every process; default: only this one's. */
  readonly gather?: (found: JacobiFindings) => Promise<readonly JacobiFindings[]>
}

/**
 * The findings of one process. They are combined by the largest value, or by the sum for numbers of cells.
 */
export interface JacobiFindings {
  readonly maxError: number
  /** Cells that are wrong. */
  readonly different: number
  /** Cells for which subnormal numbers were replaced by zero. */
  readonly flushedCells: number
  /** For the check against all iterations: the largest error that it allows. */
  readonly bound: number
  /** For the check of the last pass: the largest change of a cell in the last sweep. */
  readonly change: number
}

/**
 * Repeats all iterations in f64 if they are at most `fullCheckUpdates` cell updates: a sweep averages, so it
 * does not enlarge earlier errors, and adds at most 3·2^-24 of the largest value. Otherwise repeats the last
 * pass (one sweep, or a few fused ones) for every cell from the state before it, and also compares the
 * residual. Each process checks its cells.
 */
export async function verifyJacobi(result: JacobiResult, fullCheckUpdates = 2 ** 28): Promise<Verification> {
  const { rows, columns, iterations, gather = async (found) => [found] } = result
  const full = rows * columns * iterations <= fullCheckUpdates
  const found = await gather(await (full ? fullCheck(result) : lastPassCheck(result)))
  const most = (of: (findings: JacobiFindings) => number) =>
    found.reduce((value, findings) => Math.max(value, of(findings)), 0)
  const sum = (of: (findings: JacobiFindings) => number) =>
    found.reduce((value, findings) => value + of(findings), 0)
  const different = sum((findings) => findings.different)
  const maxError = most((findings) => findings.maxError)
  const bound = most((findings) => findings.bound)
  if (full)
    return {
      checked: true,
      verified: different === 0,
      verification: `every cell against ${iterations} iterations in f64, ${bound === 0 ? 'exactly' : `within ${bound.toExponential(2)} (3·2^-24 of the largest value per iteration)`}`,
      maxError,
    }
  const { residual, behind } = result
  const change = most((findings) => findings.change)
  const flushedCells = sum((findings) => findings.flushedCells)
  const right =
    different === 0 &&
    (residual === undefined || Object.is(residual, change) || Math.abs(residual - change) <= 2 * flushed)
  return {
    checked: true,
    verified: right,
    verification: `the last ${behind === 1 ? 'sweep' : `${behind} sweeps`} repeated for every cell, bit for bit${residual === undefined ? '' : ', with the residual'}; ${different} cells differ${
      flushedCells === 0
        ? ''
        : `; in ${flushedCells} cells the device treats subnormal numbers as zero, as WGSL allows`
    }`,
    maxError,
  }
}

/** The value of a cell depends only on the cells up to `iterations` around it. */
async function fullCheck(result: JacobiResult): Promise<JacobiFindings> {
  const { columns, iterations, places } = result
  let different = 0
  let maxError = 0
  let bound = 0
  const box = boxOf(places)
  if (box !== undefined) {
    const cone = around(box, iterations, result)
    const initial = await rowReader(result.initial, columns)(cone)
    const source = result.source && (await rowReader(result.source, columns)(cone))
    const problem = { rows: cone.rows, columns: cone.columns, ...(source && { source }) }
    const expected = await referenceJacobi(problem, initial, iterations)
    const largest = Math.max(largestFinite(initial), largestFinite(expected))
    const largestSource = largestFinite(source ?? [])
    // No intermediate value exceeds the largest initial value plus the contribution of f in each sweep, which
    // only grows. A finite cell depends only on finite cells. A cell that is not finite must be the same NaN
    // or infinity.
    bound = iterations * 3 * u * (largest + largestSource / 4) + iterations * flushed
    for (const place of places) {
      const state = await result.final(place)
      for (let index = 0; index < state.length; index++) {
        const row = place.row - cone.row + Math.floor(index / place.columns)
        const right = expected[row * cone.columns + place.column - cone.column + (index % place.columns)]!
        if (Object.is(state[index]!, right)) continue
        const error = Math.abs(state[index]! - right)
        if (error === 0) continue
        if (!(error <= bound)) different++
        maxError = Math.max(maxError, Number.isNaN(error) ? Number.POSITIVE_INFINITY : error)
      }
    }
  }
  return { maxError, different, flushedCells: 0, bound, change: 0 }
}

/** The smallest rectangle that contains all of them. */
function boxOf(places: readonly Rectangle[]): Rectangle | undefined {
  if (places.length === 0) return undefined
  const row = Math.min(...places.map((place) => place.row))
  const column = Math.min(...places.map((place) => place.column))
  const rows = Math.max(...places.map((place) => place.row + place.rows)) - row
  const columns = Math.max(...places.map((place) => place.column + place.columns)) - column
  return { row, column, rows, columns }
}

function largestFinite(values: Iterable<number>): number {
  let largest = 0
  for (const value of values) if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value))
  return largest
}

async function lastPassCheck(result: JacobiResult): Promise<JacobiFindings> {
  const { columns, behind } = result
  const band = Math.max(behind, Math.floor(4_194_304 / columns))
  let maxError = 0
  let different = 0
  let flushedCells = 0
  let change = 0
  for (const place of result.places)
    for (let row = place.row; row < place.row + place.rows; row += band) {
      const cells = { ...place, row, rows: Math.min(band, place.row + place.rows - row) }
      // Each further sweep invalidates one more row and column at the ends, except at the boundary.
      const wide = around(cells, behind, result)
      const source = result.source && (await rowReader(result.source, columns)(wide))
      let expected = await result.previous(wide)
      let before = expected.slice()
      for (let sweep = 0; sweep < behind; sweep++) {
        ;[before, expected] = [expected, before]
        sweepRowsF32(wide.columns, before, expected, source, wide.rows - 2)
      }
      const after = await result.final(cells)
      for (let line = 0; line < cells.rows; line++)
        for (let column = 0; column < cells.columns; column++) {
          const value = after[line * cells.columns + column]!
          const at = (row - wide.row + line) * wide.columns + cells.column - wide.column + column
          const isInner = cells.column + column > 0 && cells.column + column < columns - 1
          if (isInner) change = Math.max(change, Math.abs(Math.fround(value - before[at]!)))
          if (value === expected[at]! || Object.is(value, expected[at]!)) continue
          const error = Math.abs(value - expected[at]!)
          if (error <= flushed) flushedCells++
          else different++
          maxError = Math.max(maxError, Number.isNaN(error) ? Number.POSITIVE_INFINITY : error)
        }
    }
  return { maxError, different, flushedCells, bound: 0, change }
}
