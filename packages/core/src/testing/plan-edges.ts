import type { Handles } from '../backend/handles.ts'
import type { Plan, PlanPart } from '../plan/plan.ts'

/** One dependency of a plan: `to` waits for `from`, of the same repetition or of the previous one. */
export interface PlanEdge {
  readonly from: number
  readonly to: number
  readonly previous: boolean
}

/** A plan that lacks an edge; the reference backend runs it in an order that exploits that. */
export interface WeakenedPlan<H extends Handles = Handles, C extends PlanPart = PlanPart> extends Plan<H, C> {
  readonly removed: PlanEdge
}

/** Every edge of the plan. Plans hold a transitive reduction, so no edge is implied by others. */
export function removableEdges(plan: Plan<Handles, PlanPart>): PlanEdge[] {
  return plan.commands.flatMap((command) => [
    ...command.after.map((from) => ({ from, to: command.index, previous: false })),
    ...command.afterPrevious.map((from) => ({ from, to: command.index, previous: true })),
  ])
}

/**
 * The plan without one edge. `previous` chooses among `afterPrevious`; throws RangeError if there is no such
 * edge.
 */
export function withoutEdge<H extends Handles, C extends PlanPart>(
  plan: Plan<H, C>,
  from: number,
  to: number,
  previous = false,
): WeakenedPlan<H, C> {
  const key = previous ? 'afterPrevious' : 'after'
  const target = plan.commands[to]
  if (!target?.[key].includes(from))
    throw new RangeError(`Command ${to} of plan "${plan.label}" has no ${key} edge from ${from}.`)
  const weakened = { ...target, [key]: target[key].filter((index) => index !== from) } as C
  return { ...plan, commands: plan.commands.with(to, weakened), removed: { from, to, previous } }
}
