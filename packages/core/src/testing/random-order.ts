import type { Handles } from '../backend/handles.ts'
import type { Plan, PlanPart } from '../plan/plan.ts'
import type { WeakenedPlan } from './plan-edges.ts'
import { type Instance, PlanProgress } from './plan-progress.ts'

/**
 * Hands out the commands of `times` repetitions of a plan in a random order that its edges allow; a later
 * repetition begins while earlier ones are under way wherever the edges allow that too. Half of the orders
 * draw uniformly among what is ready; the other half give each command a random priority, which starves some
 * commands for long (Burckhardt et al., "A randomized scheduler with probabilistic guarantees of finding
 * bugs", ASPLOS 2010). Where the plan lacks an edge (`withoutEdge`), its target runs before its source
 * wherever the rest allows.
 */
export class RandomOrder {
  readonly #plan: Plan<Handles, PlanPart>
  readonly #random: () => number
  readonly #priorities: number[] | undefined
  readonly #ready: Instance[] = []
  readonly #progress: PlanProgress

  constructor(plan: Plan<Handles, PlanPart>, times: number, random: () => number) {
    this.#plan = plan
    this.#random = random
    this.#priorities = random() < 0.5 ? plan.commands.map(() => random()) : undefined
    this.#progress = new PlanProgress(plan, times, (instance) => this.#ready.push(instance))
  }

  /** Repetitions that are wholly done. */
  get completed(): number {
    return this.#progress.completed
  }

  /** No further repetition begins. */
  stop(): void {
    this.#progress.stopAt(this.#progress.admitted)
  }

  /** The command to run now; it counts as done when `take` is called again. Undefined at the end. */
  take(): Instance | undefined {
    if (this.#ready.length === 0) return undefined
    const position = this.#choose()
    const instance = this.#ready[position]!
    this.#ready[position] = this.#ready.at(-1)!
    this.#ready.pop()
    this.#progress.finish(instance)
    return instance
  }

  #choose(): number {
    const deferred = this.#ready.map((instance) => isDeferred(this.#plan, this.#progress, instance))
    const anyFree = deferred.includes(false)
    const candidates = [...this.#ready.keys()].filter((i) => !anyFree || !deferred[i])
    if (this.#priorities === undefined) return candidates[Math.floor(this.#random() * candidates.length)]!
    const priority = (i: number) => this.#priorities![this.#ready[i]!.command]!
    return candidates.reduce((best, i) => (priority(i) > priority(best) ? i : best))
  }
}

/** The source of a missing edge waits until the target has run, if it can. */
export function isDeferred(
  plan: Plan<Handles, PlanPart>,
  progress: PlanProgress,
  { command, repetition }: Instance,
): boolean {
  const removed = (plan as Partial<WeakenedPlan>).removed
  if (removed === undefined || command !== removed.from) return false
  const target = repetition + (removed.previous ? 1 : 0)
  return target < progress.times && !progress.isDone(removed.to, target)
}
