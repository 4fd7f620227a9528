import type { Plan } from '@tandem-gpu/core'
import type { GpuOrder } from './lower-per-gpu.ts'
import { type LaunchSplit, splitLaunches } from './unrolling.ts'

/** Launches of one length in one order. */
export interface TrialStep {
  readonly order: GpuOrder
  readonly repetitions: number
  readonly launches: number
  /** What the step takes counts for the choice: the first launch of an order warms up. */
  readonly timed: boolean
}

/** From so many launches on, one run tries both orders. */
const launchesForTrial = 8
/** Runs of each order, where runs are shorter. */
const runsPerOrder = 2
/** Plans with a copy as large as this start with `branches`, which overlap it. */
const largeCopyByteLength = 2 ** 20

/**
 * Finds by time which order of one GPU's commands a program over several GPUs should run in. Every run does the program's work: a trial
 * only chooses the graphs that do it.
 */
export class OrderTrial {
  readonly #plan: Plan
  readonly #first: GpuOrder
  readonly #second: GpuOrder
  readonly #seconds: Record<GpuOrder, number[]> = { branches: [], chain: [] }
  #runs = 0
  #chosen: GpuOrder | undefined

  constructor(plan: Plan) {
    this.#plan = plan
    const large = plan.commands.some(
      (command) =>
        (command.kind === 'copy' || command.kind === 'upload' || command.kind === 'download') &&
        command.source.rowByteLength * command.source.rows >= largeCopyByteLength,
    )
    this.#first = large ? 'branches' : 'chain'
    this.#second = large ? 'chain' : 'branches'
  }

  /** What the next run begins with. */
  get current(): GpuOrder {
    return this.#chosen ?? this.#first
  }

  /** The steps of a run of `times` repetitions. */
  steps(times: number): TrialStep[] {
    const split = splitLaunches(this.#plan.commands.length, times)
    if (this.#chosen !== undefined) return stepsIn(this.#chosen, split, false)
    if (split.launches >= launchesForTrial) {
      const both = [this.#first, this.#second].flatMap((order): TrialStep[] => [
        { order, repetitions: split.unroll, launches: 1, timed: false },
        { order, repetitions: split.unroll, launches: 2, timed: true },
      ])
      return [...both, ...stepsIn(this.#first, { ...split, launches: split.launches - 6 }, false)]
    }
    const run = this.#runs
    this.#runs += 1
    // The first run of each order warms up.
    const order = Math.floor(run / (runsPerOrder + 1)) % 2 === 0 ? this.#first : this.#second
    return stepsIn(order, split, run % (runsPerOrder + 1) > 0)
  }

  /** What the steps of a finished run took. */
  record(steps: readonly TrialStep[], stepSeconds: readonly number[]): void {
    for (const order of [this.#first, this.#second]) {
      let seconds = 0
      let repetitions = 0
      for (const [index, step] of steps.entries()) {
        if (step.order !== order || !step.timed) continue
        seconds += stepSeconds[index] ?? 0
        repetitions += step.repetitions * step.launches
      }
      if (repetitions > 0) this.#seconds[order].push(seconds / repetitions)
    }
    const { branches, chain } = this.#seconds
    if (branches.length === 0 || chain.length === 0) return
    this.#chosen ??= Math.min(...chain) <= Math.min(...branches) ? 'chain' : 'branches'
  }
}

export function stepsIn(
  order: GpuOrder,
  { unroll, launches, rest }: LaunchSplit,
  timed: boolean,
): TrialStep[] {
  const steps: TrialStep[] = []
  if (launches > 0) steps.push({ order, repetitions: unroll, launches, timed })
  if (rest > 0) steps.push({ order, repetitions: rest, launches: 1, timed })
  return steps
}
