import type { CudaCommand } from './cuda-plan.ts'

/**
 * A launch costs the CPU and the front ends of the GPUs microseconds, so a graph holds about this many
 * commands.
 */
const commandsPerGraph = 256

/** Launches of graphs that hold equally many repetitions. */
export interface LaunchStep {
  readonly repetitions: number
  readonly launches: number
}

/** The maximum number of repetitions that one graph holds. */
export function longestUnroll(commandCount: number): number {
  return Math.max(1, Math.floor(commandsPerGraph / Math.max(1, commandCount)))
}

/**
 * The launches of `times` repetitions. A length that divides `times` is preferred, because one graph suffices
 * then.
 */
export function launchSteps(commandCount: number, times: number): LaunchStep[] {
  const most = Math.min(times, longestUnroll(commandCount))
  let repetitions = most
  for (let candidate = most; candidate > most / 2; candidate -= 1) {
    if (times % candidate !== 0) continue
    repetitions = candidate
    break
  }
  const steps = [{ repetitions, launches: Math.floor(times / repetitions) }]
  const rest = times % repetitions
  return rest === 0 ? steps : [...steps, { repetitions: rest, launches: 1 }]
}

/** One command of one repetition inside a graph. */
export interface UnrolledCommand {
  readonly command: CudaCommand
  /** Positions in the unrolled list. */
  readonly after: readonly number[]
  /**
   * Positions, in the list's LAST repetition, of the commands that must precede this one across launches;
   * only in repetition 0.
   */
  readonly afterPreviousLaunch: readonly number[]
}

/**
 * `repetitions` copies of the commands, in a valid execution order, with the edges between consecutive
 * repetitions.
 */
export function unroll(commands: readonly CudaCommand[], repetitions: number): UnrolledCommand[] {
  const count = commands.length
  const unrolled: UnrolledCommand[] = []
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    const base = repetition * count
    for (const command of commands) {
      const after = command.after.map((index) => base + index)
      const previous = command.afterPrevious
      unrolled.push({
        command,
        after: repetition === 0 ? after : [...previous.map((index) => base - count + index), ...after],
        afterPreviousLaunch:
          repetition === 0 ? previous.map((index) => (repetitions - 1) * count + index) : [],
      })
    }
  }
  return unrolled
}
