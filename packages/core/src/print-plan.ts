import type { Plan } from './plan.ts'

/** A plan as stable text, one line a command, for people and snapshots. */
export function printPlan(plan: Plan): string {
  return plan.label
}
