import type { DeviceGroup, Program, Schedule } from '@tandem-gpu/core'
import { type Measurement, type MeasureOptions, measure } from './measure.ts'

/** Both schedules of the same commands, timed in one run: the blocking and the asynchronous mode of the published programs. */
export interface ScheduleComparison {
  readonly serialSeconds: number
  readonly overlappedSeconds: number
  /** Serial over overlapped time; 1 where nothing was timed. */
  readonly speedUp: number
}

/** Times the schedule other than that of `measured`. */
export async function compareSchedules(
  group: DeviceGroup,
  schedule: Schedule,
  measured: Measurement,
  record: (schedule: Schedule) => Program,
  options: MeasureOptions,
): Promise<ScheduleComparison> {
  const { trace: _, ...untraced } = options
  const other = await measure(group, record(schedule === 'serial' ? 'overlapped' : 'serial'), untraced)
  const serialSeconds = schedule === 'serial' ? measured.seconds : other.seconds
  const overlappedSeconds = schedule === 'serial' ? other.seconds : measured.seconds
  return {
    serialSeconds,
    overlappedSeconds,
    speedUp: overlappedSeconds > 0 ? serialSeconds / overlappedSeconds : 1,
  }
}
