import type { Plan } from '../plan.ts'
import type { WeakenedPlan } from './plan-edges.ts'

/** One command of one repetition. */
export interface Instance {
  readonly command: number
  readonly repetition: number
}

/** Repetitions that may be under way at once. */
const window = 3

interface Repetition {
  readonly waitsFor: Int32Array
  readonly done: Uint8Array
  remaining: number
}

/**
 * Hands out the commands of `times` repetitions of a plan in a random order that its edges allow; a later repetition
 * begins while earlier ones are under way wherever the edges allow that too. Half of the orders draw uniformly among what is
 * ready; the other half give each command a random priority, which starves some commands for long (Burckhardt et al., "A
 * randomized scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010). Where the plan lacks an edge
 * (`withoutEdge`), its target runs before its source wherever the rest allows.
 */
export class RandomOrder {
  readonly #plan: Plan
  readonly #times: number
  readonly #random: () => number
  readonly #priorities: number[] | undefined
  readonly #next: number[][]
  readonly #nextRepetition: number[][]
  readonly #repetitions: Repetition[] = []
  #firstUnfinished = 0
  #ready: Instance[] = []
  #admitting = true

  constructor(plan: Plan, times: number, random: () => number) {
    this.#plan = plan
    this.#times = times
    this.#random = random
    this.#priorities = random() < 0.5 ? plan.commands.map(() => random()) : undefined
    this.#next = plan.commands.map(() => [])
    this.#nextRepetition = plan.commands.map(() => [])
    for (const { index, after, afterPrevious } of plan.commands) {
      for (const from of after) this.#next[from]!.push(index)
      for (const from of afterPrevious) this.#nextRepetition[from]!.push(index)
    }
    this.#admit()
  }

  /** Repetitions that are wholly done. */
  get completed(): number {
    return this.#firstUnfinished
  }

  /** No further repetition begins. */
  stop(): void {
    this.#admitting = false
  }

  /** The command to run now; it counts as done when `take` is called again. Undefined at the end. */
  take(): Instance | undefined {
    if (this.#ready.length === 0) return undefined
    const position = this.#choose()
    const instance = this.#ready[position]!
    this.#ready[position] = this.#ready.at(-1)!
    this.#ready.pop()
    this.#finish(instance)
    return instance
  }

  #choose(): number {
    const deferred = this.#ready.map((instance) => this.#isDeferred(instance))
    const anyFree = deferred.includes(false)
    const candidates = [...this.#ready.keys()].filter((i) => !anyFree || !deferred[i])
    if (this.#priorities === undefined) return candidates[Math.floor(this.#random() * candidates.length)]!
    const priority = (i: number) => this.#priorities![this.#ready[i]!.command]!
    return candidates.reduce((best, i) => (priority(i) > priority(best) ? i : best))
  }

  /** The source of a missing edge waits until the target has run, if it can. */
  #isDeferred({ command, repetition }: Instance): boolean {
    const removed = (this.#plan as Partial<WeakenedPlan>).removed
    if (removed === undefined || command !== removed.from) return false
    const target = repetition + (removed.previous ? 1 : 0)
    return target < this.#times && this.#repetitions[target]?.done[removed.to] !== 1
  }

  #finish({ command, repetition }: Instance): void {
    const current = this.#repetitions[repetition]!
    current.done[command] = 1
    current.remaining--
    const arrive = (index: number, at: number) => {
      const waitsFor = this.#repetitions[at]?.waitsFor
      if (waitsFor !== undefined && --waitsFor[index]! === 0)
        this.#ready.push({ command: index, repetition: at })
    }
    for (const index of this.#next[command]!) arrive(index, repetition)
    for (const index of this.#nextRepetition[command]!) arrive(index, repetition + 1)
    while (this.#repetitions[this.#firstUnfinished]?.remaining === 0) this.#firstUnfinished++
    this.#admit()
  }

  #admit(): void {
    const { commands } = this.#plan
    while (
      this.#admitting &&
      this.#repetitions.length < Math.min(this.#times, this.#firstUnfinished + window)
    ) {
      const repetition = this.#repetitions.length
      const previous = this.#repetitions[repetition - 1]
      const waitsFor = Int32Array.from(commands, ({ after, afterPrevious }) => {
        const open = previous === undefined ? [] : afterPrevious.filter((from) => previous.done[from] !== 1)
        return after.length + open.length
      })
      this.#repetitions.push({ waitsFor, done: new Uint8Array(commands.length), remaining: commands.length })
      for (const [command, count] of waitsFor.entries())
        if (count === 0) this.#ready.push({ command, repetition })
      // Memory of long runs stays bounded: what is done and two behind is never asked again.
      if (repetition >= 2 * window) delete this.#repetitions[repetition - 2 * window]
    }
  }
}
