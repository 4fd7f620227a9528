import type { Handles } from '../backend/handles.ts'
import type { Plan, PlanPart } from '../plan/plan.ts'

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
 * How far `times` repetitions of a plan have come. A later repetition begins while earlier ones are under way
 * wherever the edges allow that.
 */
export class PlanProgress {
  readonly times: number
  readonly #plan: Plan<Handles, PlanPart>
  readonly #next: number[][]
  readonly #nextRepetition: number[][]
  readonly #repetitions: Repetition[] = []
  readonly #begun: (instance: Instance) => void
  #firstUnfinished = 0
  #limit: number

  /** `begun` is told each command once all that it waits for is done. */
  constructor(plan: Plan<Handles, PlanPart>, times: number, begun: (instance: Instance) => void) {
    this.#plan = plan
    this.times = times
    this.#limit = times
    this.#begun = begun
    this.#next = plan.commands.map(() => [])
    this.#nextRepetition = plan.commands.map(() => [])
    for (const { index, after, afterPrevious } of plan.commands) {
      for (const from of after) this.#next[from]!.push(index)
      for (const from of afterPrevious) this.#nextRepetition[from]!.push(index)
    }
    // Repetitions of nothing are all done.
    if (plan.commands.length === 0) this.#firstUnfinished = times
    else this.#admit()
  }

  /** Repetitions that are wholly done. */
  get completed(): number {
    return this.#firstUnfinished
  }

  /** Repetitions that have begun. */
  get admitted(): number {
    return this.#repetitions.length
  }

  /** No repetition from `limit` on begins. */
  stopAt(limit: number): void {
    this.#limit = Math.min(this.#limit, limit)
  }

  /** Nothing is left to do. */
  get finished(): boolean {
    return this.#firstUnfinished >= Math.min(this.#limit, this.times)
  }

  isDone(command: number, repetition: number): boolean {
    return repetition < this.#firstUnfinished || this.#repetitions[repetition]?.done[command] === 1
  }

  finish({ command, repetition }: Instance): void {
    const current = this.#repetitions[repetition]!
    current.done[command] = 1
    current.remaining--
    const arrive = (index: number, at: number) => {
      const waitsFor = this.#repetitions[at]?.waitsFor
      if (waitsFor !== undefined && --waitsFor[index]! === 0) this.#begun({ command: index, repetition: at })
    }
    for (const index of this.#next[command]!) arrive(index, repetition)
    for (const index of this.#nextRepetition[command]!) arrive(index, repetition + 1)
    this.#admit()
  }

  #admit(): void {
    const { commands } = this.#plan
    for (;;) {
      while (this.#repetitions[this.#firstUnfinished]?.remaining === 0) this.#firstUnfinished++
      if (this.#repetitions.length >= Math.min(this.#limit, this.#firstUnfinished + window)) return
      const repetition = this.#repetitions.length
      const previous = this.#repetitions[repetition - 1]
      const waitsFor = Int32Array.from(commands, ({ after, afterPrevious }) => {
        const open = previous === undefined ? [] : afterPrevious.filter((from) => previous.done[from] !== 1)
        return after.length + open.length
      })
      this.#repetitions.push({ waitsFor, done: new Uint8Array(commands.length), remaining: commands.length })
      for (const [command, count] of waitsFor.entries()) if (count === 0) this.#begun({ command, repetition })
      // Memory of long runs stays bounded: what is done and two behind is never asked again.
      if (repetition >= 2 * window) delete this.#repetitions[repetition - 2 * window]
    }
  }
}
