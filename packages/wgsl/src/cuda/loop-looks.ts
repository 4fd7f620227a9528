import type { Analyses } from '../analysis/analyses.ts'
import type { LoopApproach } from '../analysis/loop-approach.ts'
import type { For, IrModule, Loop } from '../ir.ts'
import { findSubgroupMatrixUses } from '../subgroup-matrices.ts'
import { findUniformLoops } from '../validity/uniformity.ts'
import { Costs, ticksPerSecond } from './cost.ts'

/**
 * Where a kernel looks at its stop word, which tells its invocations to leave. A loop needs no look where all
 * its rounds together are short whatever the input, by the estimate of `cost.ts`; every other loop has one,
 * which stands in place of the guard against C++'s assumption that loops end:
 *
 * - `chunks`: a `for` whose condition comes to its end by a known step (`LoopApproach`) becomes a native loop
 *   of at most so many rounds in a loop that looks. Rounds of a chunk cost nothing more, and a loop of a
 *   single chunk never looks.
 * - `count`: any other loop counts its rounds and looks after so many. So does one whose rounds are long:
 *   counting is lost in them, where a chunk costs registers (of the shipped products, seven spilled them for
 *   sm_90), and one whose chunk would be a single round.
 *
 * Looks are `secondsBetween` apart by the estimate, so that what they cost is lost in what lies between, and
 * invocations that start late leave soon. Where a round may cost far less than estimated, they may be farther
 * apart by the estimate, and a clock keeps them from coming too soon.
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

/** How the estimated time decides where looks stand. */
export interface LookIntervals {
  /** A loop that takes no longer has no look. */
  readonly secondsWithout: number
  readonly secondsBetween: number
}

export const lookIntervals: LookIntervals = { secondsWithout: 0.1, secondsBetween: 0.01 }

export interface Looks {
  readonly of: ReadonlyMap<For | Loop, Look>
  /** Tensor cores take subgroups of which no invocation has left: all leave together. */
  readonly together: boolean
  /** False where a loop that may run long can have no look. */
  readonly complete: boolean
}

export const noLooks: Looks = { of: new Map(), together: false, complete: false }

/** A round that may cost so many times less than estimated has its looks kept apart by a clock. */
const uncertainty = 16

/** How much sooner the first look of a loop comes that counts light rounds. */
const partBeforeFirstLook = 64

/** From here on a round has hundreds of instructions. */
const ticksOfHeavyRound = 1000

export function findLooks(module: IrModule, { counters }: Analyses, intervals: LookIntervals): Looks {
  const together = findSubgroupMatrixUses(module).length > 0
  // All must come to a vote, so it stands where they make the rounds together.
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
    // Launches that wait behind an endless kernel leave sooner; heavy rounds are fewer, and a look before
    // their end is felt.
    const first = isHeavy ? rounds : Math.max(1, Math.floor(rounds / partBeforeFirstLook))
    const common = { rounds, isSpaced }
    of.set(
      loop,
      approach === undefined ? { kind: 'count', first, ...common } : { kind: 'chunks', approach, ...common },
    )
    return { least: 0, most: rounds * round.most }
  })
  costs.ofFunction(module.entryPoint)
  return { of, together, complete }
}
