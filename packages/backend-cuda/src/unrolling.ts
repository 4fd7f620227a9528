import type { PlanCommand } from '@tandem-gpu/core'

/** A launch costs the CPU and the GPUs' front ends microseconds: a graph holds about this many commands. */
const commandsPerGraph = 256

/** How `times` repetitions of a plan split into graph launches. */
export interface LaunchSplit {
  /** Repetitions in each of the first `launches` launches. */
  readonly unroll: number
  readonly launches: number
  /** Repetitions in one last launch; 0 when there is none. */
  readonly rest: number
}

/** Most repetitions that one graph holds. */
export function longestUnroll(commandCount: number): number {
  return Math.max(1, Math.floor(commandsPerGraph / Math.max(1, commandCount)))
}

/** Prefers a length that divides `times`: then one graph does. */
export function splitLaunches(commandCount: number, times: number): LaunchSplit {
  const most = Math.min(times, longestUnroll(commandCount))
  let unroll = most
  for (let candidate = most; candidate > most / 2; candidate -= 1) {
    if (times % candidate === 0) {
      unroll = candidate
      break
    }
  }
  return { unroll, launches: Math.floor(times / unroll), rest: times % unroll }
}

/** One command of one repetition inside a graph. */
export interface UnrolledCommand {
  readonly command: PlanCommand
  readonly repetition: number
  /** Positions in the unrolled list. */
  readonly after: readonly number[]
  /** Positions, in the list's LAST repetition, of what must precede this across launches; only in repetition 0. */
  readonly afterPreviousLaunch: readonly number[]
}

/** `repetitions` copies of the commands, in a valid execution order, with the edges between consecutive repetitions. */
export function unroll(commands: readonly PlanCommand[], repetitions: number): UnrolledCommand[] {
  const count = commands.length
  const unrolled: UnrolledCommand[] = []
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    const base = repetition * count
    for (const command of commands) {
      const after = command.after.map((index) => base + index)
      const previous = command.afterPrevious
      unrolled.push({
        command,
        repetition,
        after: repetition === 0 ? after : [...previous.map((index) => base - count + index), ...after],
        afterPreviousLaunch:
          repetition === 0 ? previous.map((index) => (repetitions - 1) * count + index) : [],
      })
    }
  }
  return unrolled
}
