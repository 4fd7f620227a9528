// Determines which programs of sweeps make up an iteration, and in which copy of the cells each of them
// begins. Pure data, which `JacobiIteration` records and runs.
import { fusedSweeps } from './jacobi-kernels.ts'

/** The maximum number of sweeps in one recorded program; twice as many if the check interval is odd. */
const longestBody = 128

/** One recorded program. */
export interface SweepBody {
  readonly sweeps: number
  /** The copy of the cells that the first sweep reads. */
  readonly parity: 0 | 1
  /** The slot of host memory, of two, that receives the residuals. */
  readonly slot: 0 | 1
  /**
   * The number of sweeps between two reads of the residual, which is also read after the last sweep; 0:
   * never.
   */
  readonly residualEvery: number
}

/**
 * A program and the number of its runs, which is more than 1 only if it ends in the copy in which it begins.
 */
export interface SweepRun {
  readonly body: SweepBody
  readonly times: number
}

/** Runs that follow one another. */
export interface SweepPlan {
  readonly runs: readonly SweepRun[]
  /** The copy that holds the state at the end. The other copy holds the state of `behind` sweeps earlier. */
  readonly parity: 0 | 1
  readonly behind: number
}

/** Sweeps in one pass over memory, the last of which is number `last` (1 is the first). */
export interface SweepPass {
  readonly last: number
  readonly count: number
}

/**
 * Groups sweeps into passes over memory. A residual is that of the last sweep of a pass; single sweeps
 * precede fused ones.
 */
export function passesOf(sweeps: number, residuals: Iterable<number>, fused: boolean): SweepPass[] {
  const all: SweepPass[] = []
  const ends = new Set([...residuals, sweeps])
  let begin = 0
  for (let end = 1; end <= sweeps; end++) {
    if (!ends.has(end)) continue
    const single = fused ? (end - begin) % fusedSweeps : end - begin
    for (let sweep = 1; sweep <= single; sweep++) all.push({ last: begin + sweep, count: 1 })
    for (let sweep = begin + single + fusedSweeps; sweep <= end; sweep += fusedSweeps)
      all.push({ last: sweep, count: fusedSweeps })
    begin = end
  }
  return all
}

/** The sweeps of a body after which the residual is read. */
export function residualsOf({
  sweeps,
  residualEvery,
}: Pick<SweepBody, 'sweeps' | 'residualEvery'>): number[] {
  if (residualEvery === 0) return []
  const between = Math.ceil(sweeps / residualEvery) - 1
  return [...Array.from({ length: between }, (_, i) => (i + 1) * residualEvery), sweeps]
}

export interface SweepWork {
  readonly iterations: number
  readonly residualEvery: number
  readonly fused: boolean
}

/** The program that `planSweeps` repeats. */
export function repeatedBody({ iterations, residualEvery, fused }: SweepWork): SweepBody {
  const every = Math.min(residualEvery, longestBody)
  const sweeps = Math.max(1, Math.min(evenSweeps(every, fused), iterations))
  return { sweeps, parity: 0, slot: 0, residualEvery: every }
}

/** A fixed number of sweeps from copy 0, in at least `pieces` runs if there are that many repetitions. */
export function planSweeps({ iterations, residualEvery, fused }: SweepWork, pieces = 1): SweepPlan {
  const every = Math.min(residualEvery, iterations)
  const behind = behindOf(iterations % every || every, fused)
  if (every > longestBody) {
    const runs: SweepRun[] = []
    let parity: 0 | 1 = 0
    for (let done = 0; done < iterations; done += every) {
      const interval = planInterval(Math.min(every, iterations - done), parity, 0, fused)
      runs.push(...interval.runs)
      parity = interval.parity
    }
    return { runs, parity, behind }
  }
  const body = (sweeps: number): SweepBody => ({ sweeps, parity: 0, slot: 0, residualEvery: every })
  const even = evenSweeps(every, fused)
  const times = Math.floor(iterations / even)
  const count = Math.min(pieces, times)
  const runs = Array.from({ length: count }, (_, piece) => ({
    body: body(even),
    times: Math.floor(((piece + 1) * times) / count) - Math.floor((piece * times) / count),
  }))
  const rest = iterations % even
  if (rest > 0) runs.push({ body: body(rest), times: 1 })
  return { runs, parity: parityAfter(body(rest), fused), behind }
}

/** One interval between two checks of the residual, which is read only after its last sweep. */
export function planInterval(length: number, parity: 0 | 1, slot: 0 | 1, fused: boolean): SweepPlan {
  const whole = Math.floor((length - 1) / longestBody)
  const rest = length - whole * longestBody
  const body = (sweeps: number, residualEvery: number): SweepBody => ({ sweeps, parity, slot, residualEvery })
  const runs = [
    ...(whole > 0 ? [{ body: body(longestBody, 0), times: whole }] : []),
    { body: body(rest, rest), times: 1 },
  ]
  return { runs, parity: parityAfter(body(rest, rest), fused), behind: behindOf(length, fused) }
}

/** The number of sweeps, one or two intervals, after which the state is in the same copy as before. */
function evenSweeps(interval: number, fused: boolean): number {
  const body: SweepBody = { sweeps: interval, parity: 0, slot: 0, residualEvery: interval }
  return parityAfter(body, fused) === 0 ? interval : 2 * interval
}

/**
 * The copy that holds the state after a program. `longestBody` sweeps without a residual are an even number
 * of passes.
 */
function parityAfter(body: SweepBody, fused: boolean): 0 | 1 {
  const passes = passesOf(body.sweeps, residualsOf(body), fused).length
  return ((body.parity + passes) % 2) as 0 | 1
}

/** The number of sweeps in the last pass of an interval. */
function behindOf(length: number, fused: boolean): number {
  return fused && length >= fusedSweeps ? fusedSweeps : 1
}
