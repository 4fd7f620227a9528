import type { DeviceGroup, Program, ProgramSpan } from '@tandem-gpu/core'
import { characterOf } from './device-character.ts'
import { requireGroup } from './option-types.ts'
import { requireResult } from './require-result.ts'

/** How often a program runs, and what is timed. */
export interface MeasureOptions {
  /** Untimed runs before the timed ones. Default 1; 0 on a software adapter. */
  readonly warmup?: number | undefined
  /** Timed runs, whose median is reported. Default 1. */
  readonly samples?: number | undefined
  /** Replays of the program in one run; the time is divided by it. Default 1. */
  readonly repetitions?: number | undefined
  /**
   * Receives the spans of one additional run that is profiled and not timed; empty if the device has no
   * timestamps.
   */
  readonly trace?: ((spans: readonly ProgramSpan[]) => void) | undefined
  /** Called before the first run and after each run, including warm-up runs, to report progress. */
  readonly onRun?: ((progress: MeasureProgress) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** The number of completed runs of a measurement. */
export interface MeasureProgress {
  readonly done: number
  readonly total: number
}

/** The time of one run. */
export interface Measurement {
  /** One replay: median over the samples. */
  readonly seconds: number
  readonly clock: 'device' | 'host'
  readonly samples: readonly number[]
}

/** Runs a recorded program and times it. The program runs at least once. */
export async function measure(
  group: DeviceGroup,
  program: Program,
  options: MeasureOptions = {},
): Promise<Measurement> {
  requireGroup(group)
  requireResult(program, 'prepare', 'The program of measure', 'a program that record returned')
  return measureInTurn(group, [program], options)
}

/** Times programs that run one after another, all of them in each repetition. */
export async function measureInTurn(
  group: DeviceGroup,
  programs: readonly Program[],
  options: MeasureOptions,
): Promise<Measurement> {
  const { warmup = characterOf(group).warmup, samples = 1, repetitions = 1, signal } = options
  const timed = Math.max(1, samples)
  const ran = countRuns(warmup + timed + (options.trace ? 1 : 0), options.onRun)
  for (const program of programs) await program.prepare()
  for (let run = 0; run < warmup; run++) {
    await timeRun(group, programs, 1, signal)
    ran()
  }
  const seconds: number[] = []
  let clock: 'device' | 'host' = 'host'
  for (let run = 0; run < timed; run++) {
    const result = await timeRun(group, programs, repetitions, signal)
    clock = result.clock
    seconds.push(result.seconds)
    ran()
  }
  if (options.trace) {
    const all: ProgramSpan[] = []
    let end = 0
    for (const program of programs) {
      const { spans = [] } = await group.queue.run(program, 1, { ...(signal && { signal }), profile: true })
      const start = end
      for (const span of spans) {
        const { startSeconds, endSeconds } = span
        all.push({ ...span, startSeconds: start + startSeconds, endSeconds: start + endSeconds })
        end = Math.max(end, start + endSeconds)
      }
    }
    options.trace(all)
    ran()
  }
  return { seconds: median(seconds), clock, samples: seconds }
}

/** Reports 0 completed runs of `total`, and returns a function that reports one more completed run. */
export function countRuns(total: number, onRun: MeasureOptions['onRun']): () => void {
  let done = 0
  onRun?.({ done, total })
  return () => onRun?.({ done: ++done, total })
}

/**
 * Seconds of one repetition. With a single program, one call runs all `repetitions`; with several, each
 * repetition calls each of them.
 */
export async function timeRun(
  group: DeviceGroup,
  programs: readonly Program[],
  repetitions: number,
  signal: AbortSignal | undefined,
): Promise<{ seconds: number; clock: 'device' | 'host' }> {
  const times = Math.max(1, repetitions)
  const [rounds, each] = programs.length === 1 ? [1, times] : [times, 1]
  let seconds = 0
  let clock: 'device' | 'host' = 'device'
  for (let round = 0; round < rounds; round++)
    for (const program of programs) {
      const result = await group.queue.run(program, each, signal ? { signal } : {})
      seconds += result.seconds
      if (result.clock === 'host') clock = 'host'
    }
  return { seconds: seconds / times, clock }
}

/** The median of a non-empty list: the mean of the two middle values if the number of values is even. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
