import type { ScheduleComparison } from '@tandem-gpu/algorithms'
import { formatNumber, formatSeconds } from './quantity.ts'
import type { ReportLine } from './report-text.ts'

/** A line that compares the two schedules, if both were timed. */
export function comparisonLine(comparison: ScheduleComparison | undefined): readonly ReportLine[] {
  if (comparison === undefined) return []
  const { serialSeconds, overlappedSeconds, speedUp, sweeps } = comparison
  const of = sweeps === undefined ? '' : ` (each of ${sweeps} sweeps)`
  const text = `serial ${formatSeconds(serialSeconds)}, overlapped ${formatSeconds(overlappedSeconds)}: ${formatNumber(speedUp)} ×${of}`
  return [['schedules', text]]
}
