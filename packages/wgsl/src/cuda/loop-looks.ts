import type { Analyses } from '../analysis/analyses.ts'
import type { LoopApproach } from '../analysis/loop-approach.ts'
import type { For, IrFunction, IrModule, Loop } from '../ir.ts'
import { findSubgroupMatrixUses } from '../subgroup-matrices.ts'
import { findUniformLoops } from '../validity/uniformity.ts'
import { Costs, ticksPerSecond } from './cost.ts'

/**
 * Where a kernel looks at its stop word, which tells its invocations to leave. A loop needs no look if, by
 * the estimate of `cost.ts`, all its rounds together are short for any input. Every other loop has a look,
 * which replaces the guard against C++'s assumption that loops end:
 *
 * - `chunks`: a `for` whose condition approaches its end by a known step (`LoopApproach`) becomes a native
 *   loop with a limited number of rounds, inside a loop that looks. The rounds of a chunk have no extra cost,
 *   and a loop of a single chunk never looks.
 * - `count`: any other loop counts its rounds and looks after a number of them. So does a loop with long
 *   rounds, where the cost of counting is negligible but a chunk costs registers (seven of the shipped
 *   products spilled registers for sm_90), and a loop whose chunk would be a single round.
 *
 * A function that takes far longer, because its calls multiply, looks each time that it is called: without
 * any loop, thirty functions of which each calls the next twice make a billion calls.
 *
 * By the estimate, looks are `secondsBetween` apart, so that their cost is negligible and invocations that
 * start late still leave soon. If a round may cost far less than estimated, a clock prevents looks that come
 * too soon.
 */
export type Look =
  | {
      readonly kind: 'chunks'
      readonly approach: LoopApproach
      readonly rounds: number
      readonly isSpaced: boolean
    }
  | {
      readonly kind: 'count'
      readonly rounds: number
      /** Rounds before the first look. */
      readonly first: number
      readonly isSpaced: boolean
    }

/** The estimated times that determine the positions of looks. */
export interface LookIntervals {
  /** A loop that takes at most this long has no look. */
  readonly secondsWithout: number
  readonly secondsBetween: number
}

export const lookIntervals: LookIntervals = { secondsWithout: 0.1, secondsBetween: 0.01 }

export interface Looks {
  readonly of: ReadonlyMap<For | Loop, Look>
  /** The functions that look when they are called. */
  readonly calls: ReadonlySet<IrFunction>
  /** True if all invocations must leave together: tensor cores need complete subgroups. */
  readonly together: boolean
  /** False if a loop or function that may run long cannot have a look. */
  readonly complete: boolean
}

export const noLooks: Looks = { of: new Map(), calls: new Set(), together: false, complete: false }

/** A function that looks takes at least this many times as long as a loop that looks. */
const timesOfCalls = 4

export function looksAnywhere({ of, calls }: Looks): boolean {
  return of.size + calls.size > 0
}

/** If a round may cost this many times less than estimated, a clock spaces the looks. */
const uncertainty = 16

/** The factor by which the first look comes sooner in a loop that counts light rounds. */
const partBeforeFirstLook = 64

/** A round with at least this cost has hundreds of instructions. */
const ticksOfHeavyRound = 1000

export function findLooks(module: IrModule, { counters }: Analyses, intervals: LookIntervals): Looks {
  const together = findSubgroupMatrixUses(module).length > 0
  // All invocations must vote, so a look must be in a loop whose rounds they execute together.
  const uniform = together ? findUniformLoops(module) : undefined
  const of = new Map<For | Loop, Look>()
  let complete = true
  const ticksWithout = intervals.secondsWithout * ticksPerSecond
  const ticksBetween = intervals.secondsBetween * ticksPerSecond
  const costs: Costs = new Costs(counters, (loop, round) => {
    const trips = costs.trips(loop)
    const whole = { least: trips.least * round.least, most: trips.most * Math.max(round.most, 1) }
    if (whole.most <= ticksWithout) return whole
    if (uniform !== undefined && !uniform.has(loop)) {
      complete = false
      return { least: 0, most: ticksBetween }
    }
    const isSpaced = !together && round.most > uncertainty * Math.max(round.least, 1)
    const ticks = isSpaced ? ticksWithout : ticksBetween
    const rounds = Math.max(1, Math.min(Math.floor(ticks / Math.max(round.most, 1)), 2 ** 30))
    const isHeavy = round.least >= ticksOfHeavyRound
    const isCut = loop.kind === 'for' && trips.least === 0 && !isHeavy && rounds > 1
    const approach = isCut ? counters.approach(loop) : undefined
    // With an early first look, launches that wait behind an endless kernel leave sooner. Loops with heavy
    // rounds have fewer of them, and an early look would cost noticeable time.
    const first = isHeavy ? rounds : Math.max(1, Math.floor(rounds / partBeforeFirstLook))
    const common = { rounds, isSpaced }
    of.set(
      loop,
      approach === undefined ? { kind: 'count', first, ...common } : { kind: 'chunks', approach, ...common },
    )
    return { least: 0, most: rounds * round.most }
  })
  const calls = new Set<IrFunction>()
  // Callees first, so that a long chain of calls does not overflow the stack.
  for (const fn of module.functions) {
    if (costs.ofFunction(fn).most <= timesOfCalls * ticksWithout || fn === module.entryPoint) continue
    if (together) complete = false
    else calls.add(fn)
  }
  return { of, calls, together, complete }
}
