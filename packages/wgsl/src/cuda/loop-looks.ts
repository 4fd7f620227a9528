import type { Analyses } from '../analysis/analyses.ts'
import type { LoopApproach } from '../analysis/loop-approach.ts'
import type { Block, For, IrModule, Loop, Statement, While } from '../ir.ts'
import { findSubgroupMatrixUses } from '../subgroup-matrices.ts'
import { findUniformLoops } from '../validity/uniformity.ts'
import { walk } from '../walk.ts'
import { Costs, ticksPerSecond } from './cost.ts'

/**
 * Where a kernel looks at its stop word, which tells its invocations to leave. A loop needs no look where all its rounds together are short whatever the
 * input, by the estimate of `cost.ts`; every other loop has one, which stands in place of the guard against C++'s assumption that loops end:
 *
 * - `chunks`: a `for` whose condition comes to its end by a known step (`LoopApproach`) becomes a native loop of at most so many rounds in a loop
 *   that looks. Rounds of a chunk cost nothing more, and a loop of a single chunk never looks.
 * - `count`: any other loop counts its rounds and looks after so many. So does one whose rounds are long: counting is lost in them, where a chunk
 *   costs registers (of the shipped products, seven spilled them for sm_90), and one whose chunk would be a single round.
 *
 * A loop that stands in no other, holds no look, and comes to its end by a known step is written twice (`few`): where it has few rounds to make, it
 * runs without a look, as a kernel that cannot be stopped does. (Counting made f32 products up to 8 % slower, whose registers are all in use.)
 *
 * Looks are `secondsBetween` apart by the estimate, so that what they cost is lost in what lies between, and invocations that start late leave soon. Where a
 * round may cost far less than estimated, they may be farther apart by the estimate, and a clock keeps them from coming too soon.
 */
export type Look = {
  readonly rounds: number
  readonly isSpaced: boolean
  readonly few: FewRounds | undefined
} & (
  | { readonly kind: 'chunks'; readonly approach: LoopApproach }
  /** `first`: rounds before the first look. */
  | { readonly kind: 'count'; readonly first: number }
)

/** A loop with at most so many rounds to make needs no look. */
export interface FewRounds {
  readonly approach: LoopApproach
  readonly rounds: number
}

/** How the estimated time decides where looks stand. */
export interface LookIntervals {
  /** A loop that takes no longer has no look. */
  readonly secondsWithout: number
  readonly secondsBetween: number
  /** A loop that is found to take no longer when it begins does not look. */
  readonly secondsOfFew: number
}

export const lookIntervals: LookIntervals = { secondsWithout: 0.1, secondsBetween: 0.01, secondsOfFew: 0.25 }

export interface Looks {
  readonly of: ReadonlyMap<For | While | Loop, Look>
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
  const of = new Map<For | While | Loop, Look>()
  let complete = true
  const ticksWithout = intervals.secondsWithout * ticksPerSecond
  const ticksBetween = intervals.secondsBetween * ticksPerSecond
  const outermost = loopsInNoOther(module.entryPoint.body)
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
    const approach = loop.kind === 'for' && trips.least === 0 ? counters.approach(loop) : undefined
    const fewest = Math.floor((intervals.secondsOfFew * ticksPerSecond) / Math.max(round.most, 1))
    const isPlain = approach !== undefined && outermost.has(loop) && !holdsOne(loop.body, of)
    const few = isPlain && fewest > 1 ? { approach, rounds: Math.min(fewest, 2 ** 30) } : undefined
    // Launches that wait behind an endless kernel leave sooner; heavy rounds are fewer, and a look before their end is felt.
    const first = isHeavy ? rounds : Math.max(1, Math.floor(rounds / partBeforeFirstLook))
    const common = { rounds, isSpaced, few }
    of.set(
      loop,
      approach === undefined || isHeavy || rounds === 1
        ? { kind: 'count', first, ...common }
        : { kind: 'chunks', approach, ...common },
    )
    return { least: 0, most: rounds * round.most }
  })
  costs.ofFunction(module.entryPoint)
  return { of, together, complete }
}

/** The loops of a function's body that stand in no other loop of it. */
function loopsInNoOther(body: Block): ReadonlySet<Statement> {
  const found = new Set<Statement>()
  walk(body, {
    statement(s) {
      if (s.kind !== 'for' && s.kind !== 'while' && s.kind !== 'loop') return undefined
      found.add(s)
      return false
    },
  })
  return found
}

/** Is there one of these loops in the block, or in a function that it calls? */
function holdsOne(block: Block, loops: ReadonlyMap<Statement, unknown>): boolean {
  let holds = false
  walk(block, {
    statement(s) {
      holds ||= loops.has(s)
      return undefined
    },
    expression(e) {
      if (e.kind === 'call') holds ||= holdsOne(e.function.body, loops)
      return undefined
    },
  })
  return holds
}
