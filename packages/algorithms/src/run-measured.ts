import {
  type Device,
  type DeviceGroup,
  OwnedResources,
  type Program,
  type Recorder,
  type Schedule,
} from '@tandem-gpu/core'
import type { AlgorithmOptions } from './algorithm-options.ts'
import {
  countRuns,
  type Measurement,
  type MeasureOptions,
  measureInTurn,
  median,
  timeRun,
} from './measure.ts'
import { requireCommonOptions, requireGroup } from './option-types.ts'
import { describeGroup, gigaRate, type Report, type ScheduleComparison, type Verification } from './report.ts'

/** Options of `runMeasured`. */
export interface RunMeasuredOptions extends Omit<AlgorithmOptions, 'verify'> {
  readonly label?: string | undefined
}

/** The result of `runMeasured`. */
export interface MeasuredRun {
  readonly schedule: Schedule
  readonly measurement: Measurement
  /** Present if `compareSchedules` is true. */
  readonly comparison?: ScheduleComparison
}

/** The minimum number of samples of each schedule in a comparison: fewer are meaningless if times vary. */
const comparedSamples = 5

/**
 * Records a program, passes it to `onProgram`, runs and times it, and destroys it: the part between an
 * algorithm's allocations and its check. With `compareSchedules`, `record` is called once for each schedule;
 * both are warmed up, and their samples alternate, at least five of each, so that a machine that slows down
 * does not favour one of them. Rejects with `validation` for wrong options, before anything is recorded.
 */
export async function runMeasured(
  group: DeviceGroup,
  record: (recorder: Recorder) => void,
  options: RunMeasuredOptions = {},
): Promise<MeasuredRun> {
  return measurePrograms(
    group,
    async (schedule, keep) => {
      const { label } = options
      return [keep(group.record(record, { schedule, ...(label !== undefined && { label }) }))]
    },
    options,
  )
}

/**
 * The same for programs that run one after another; programs passed to `keep` are destroyed at the end. The
 * second may depend on results of the first.
 */
export async function measurePrograms(
  group: DeviceGroup,
  record: (schedule: Schedule, keep: (program: Program) => Program) => Promise<readonly Program[]>,
  options: RunMeasuredOptions,
): Promise<MeasuredRun> {
  requireGroup(group)
  requireCommonOptions(options, 'runMeasured')
  const { schedule = 'overlapped' } = options
  const owned = new OwnedResources()
  const keep = (program: Program) => owned.keep(program)
  try {
    const programs = await record(schedule, keep)
    for (const program of programs) options.onProgram?.(program)
    const measurement = await measureInTurn(group, programs, options)
    if (!options.compareSchedules) return { schedule, measurement }
    const other = await record(schedule === 'serial' ? 'overlapped' : 'serial', keep)
    // The samples that alternated with the other schedule's, so that a report has one time for each schedule.
    const runs = (of: readonly Program[], repetitions: number) => async () =>
      (await timeRun(group, of, repetitions, options.signal)).seconds
    for (const program of other) await program.prepare()
    const { repetitions = 1 } = options
    const { comparison, samples } = await compareSchedules(
      schedule,
      { warm: runs(programs, 1), time: runs(programs, repetitions) },
      { warm: runs(other, 1), time: runs(other, repetitions) },
      options,
    )
    return { schedule, measurement: { ...measurement, seconds: median(samples), samples }, comparison }
  } finally {
    owned.destroy()
  }
}

/**
 * The fields of a report that describe where the program ran and how fast: `bytes`, `flops` or elements of
 * one run, and the rate per second.
 */
export function describeRun(
  group: DeviceGroup,
  { schedule, measurement: { seconds, clock }, comparison }: MeasuredRun,
  work: { readonly bytes: number } | { readonly flops: number } | { readonly elements: number },
  devices: readonly Device[] = group.devices,
): Omit<Report, 'algorithm' | 'shape' | 'notes' | keyof Verification> {
  return {
    ...describeGroup(group, devices),
    schedule,
    seconds,
    clock,
    ...('elements' in work ? {} : work),
    ...rateOf(work, seconds),
    ...(comparison && { comparison }),
  }
}

function rateOf(work: Parameters<typeof describeRun>[2], seconds: number): Pick<Report, 'rate' | 'unit'> {
  if ('bytes' in work) return { rate: gigaRate(work.bytes, seconds), unit: 'GB/s' }
  if ('flops' in work) return { rate: gigaRate(work.flops, seconds), unit: 'GFLOP/s' }
  return { rate: gigaRate(work.elements, seconds), unit: 'Gelements/s' }
}

/** A run under one schedule: once to warm up, and as it is timed; both return seconds. */
interface ComparedRun {
  warm(): Promise<number>
  time(): Promise<number>
}

/** The result of `compareSchedules`. */
interface ComparedSchedules {
  readonly comparison: ScheduleComparison
  /** Seconds of each run under the first schedule. */
  readonly samples: readonly number[]
}

/** Times runs under `schedule` and others under the other schedule; the order of the two alternates. */
export async function compareSchedules(
  schedule: Schedule,
  own: ComparedRun,
  other: ComparedRun,
  { samples = 1, warmup = 1, onRun }: Pick<MeasureOptions, 'samples' | 'warmup' | 'onRun'>,
): Promise<ComparedSchedules> {
  const first = { run: own, seconds: [] as number[] }
  const second = { run: other, seconds: [] as number[] }
  const [serial, overlapped] = schedule === 'serial' ? [first, second] : [second, first]
  const warming = Math.max(1, warmup)
  const timed = Math.max(comparedSamples, samples)
  const ran = countRuns(2 * (warming + timed), onRun)
  for (const { run } of [serial, overlapped])
    for (let i = 0; i < warming; i++) {
      await run.warm()
      ran()
    }
  for (let sample = 0; sample < timed; sample++)
    for (const { run, seconds } of sample % 2 === 0 ? [serial, overlapped] : [overlapped, serial]) {
      seconds.push(await run.time())
      ran()
    }
  const serialSeconds = median(serial.seconds)
  const overlappedSeconds = median(overlapped.seconds)
  const speedUp = overlappedSeconds > 0 ? serialSeconds / overlappedSeconds : 1
  return { comparison: { serialSeconds, overlappedSeconds, speedUp }, samples: first.seconds }
}
