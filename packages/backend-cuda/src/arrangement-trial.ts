import type { Plan } from '@tandem-gpu/core'
import type { GpuOrder } from './lower-per-gpu.ts'
import { type LaunchSplit, splitLaunches } from './unrolling.ts'

/** What a program over several GPUs becomes: one graph over all of them, or one for each, of branches or a chain. */
export type Arrangement = 'one-graph' | GpuOrder

/** Launches of one length in one arrangement. */
export interface TrialStep {
  readonly arrangement: Arrangement
  readonly repetitions: number
  readonly launches: number
  /** What the step takes counts for the choice: the first launch of an arrangement warms up. */
  readonly timed: boolean
}

/** Launches that a long run spends on each arrangement: one to warm up, the others timed. */
const launchesPerTrial = 3
/** Runs of each arrangement, where runs are shorter: one to warm up, the others timed. */
const runsPerTrial = 3
/** Plans with a copy as large as this start with `branches`, which overlap it; the others with `chain`. */
const largeCopyByteLength = 2 ** 20

/**
 * Finds by time in which arrangement a program over several GPUs runs. Every run does the program's work: a trial only chooses the graphs
 * that do it.
 */
export class ArrangementTrial {
  readonly #plan: Plan
  #candidates: readonly Arrangement[]
  readonly #seconds = new Map<Arrangement, number[]>()
  #runs = 0
  #chosen: Arrangement | undefined

  constructor(plan: Plan, candidates: readonly Arrangement[]) {
    this.#plan = plan
    const large = plan.commands.some(
      (command) =>
        (command.kind === 'copy' || command.kind === 'upload' || command.kind === 'download') &&
        command.source.rowByteLength * command.source.rows >= largeCopyByteLength,
    )
    const preferred: Arrangement = large ? 'branches' : 'chain'
    this.#candidates = [...candidates].sort((a, b) => Number(b === preferred) - Number(a === preferred))
    if (candidates.length === 1) this.#chosen = candidates[0]
  }

  /** What the next run begins with. */
  get current(): Arrangement {
    return this.#chosen ?? this.#candidates[0]!
  }

  /** The steps of a run of `times` repetitions. */
  steps(times: number): TrialStep[] {
    const split = splitLaunches(this.#plan.commands.length, times)
    if (this.#chosen !== undefined) return stepsIn(this.#chosen, split, false)
    const spent = launchesPerTrial * this.#candidates.length
    if (split.launches >= spent) {
      const trials = this.#candidates.flatMap((arrangement): TrialStep[] => [
        { arrangement, repetitions: split.unroll, launches: 1, timed: false },
        { arrangement, repetitions: split.unroll, launches: launchesPerTrial - 1, timed: true },
      ])
      return [...trials, ...stepsIn(this.current, { ...split, launches: split.launches - spent }, false)]
    }
    const run = this.#runs
    this.#runs += 1
    const arrangement = this.#candidates[Math.floor(run / runsPerTrial) % this.#candidates.length]!
    return stepsIn(arrangement, split, run % runsPerTrial > 0)
  }

  /** The driver refuses the graphs of this one, most likely for want of memory: the others remain. */
  exclude(arrangement: Arrangement): void {
    if (this.#chosen !== undefined) return
    this.#candidates = this.#candidates.filter((candidate) => candidate !== arrangement)
    if (this.#candidates.length === 1) this.#chosen = this.#candidates[0]
  }

  /** What the steps of a finished run took. */
  record(steps: readonly TrialStep[], stepSeconds: readonly number[]): void {
    if (this.#chosen !== undefined) return
    for (const arrangement of this.#candidates) {
      let seconds = 0
      let repetitions = 0
      for (const [index, step] of steps.entries()) {
        if (step.arrangement !== arrangement || !step.timed) continue
        seconds += stepSeconds[index] ?? Number.POSITIVE_INFINITY
        repetitions += step.repetitions * step.launches
      }
      if (repetitions === 0) continue
      this.#seconds.set(arrangement, [...(this.#seconds.get(arrangement) ?? []), seconds / repetitions])
    }
    const enough = (arrangement: Arrangement) => (this.#seconds.get(arrangement)?.length ?? 0) > 0
    if (!this.#candidates.every(enough)) return
    const best = (arrangement: Arrangement) => Math.min(...this.#seconds.get(arrangement)!)
    this.#chosen = this.#candidates.reduce((a, b) => (best(b) < best(a) ? b : a))
  }
}

export function stepsIn(
  arrangement: Arrangement,
  { unroll, launches, rest }: LaunchSplit,
  timed: boolean,
): TrialStep[] {
  const steps: TrialStep[] = []
  if (launches > 0) steps.push({ arrangement, repetitions: unroll, launches, timed })
  if (rest > 0) steps.push({ arrangement, repetitions: rest, launches: 1, timed })
  return steps
}
