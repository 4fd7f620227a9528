import type { ScheduleComparison } from '@tandem-gpu/algorithms'
import { formatNumber, formatSeconds } from './quantity.ts'
import type { ReportLine } from './report-text.ts'

/** A line that compares the two schedules, where both were timed. */
export function comparisonLine(comparison: ScheduleComparison | undefined): readonly ReportLine[] {
  if (comparison === undefined) return []
  const { serialSeconds, overlappedSeconds, speedUp } = comparison
  const text = `serial ${formatSeconds(serialSeconds)}, overlapped ${formatSeconds(overlappedSeconds)}: ${formatNumber(speedUp)} ×`
  return [['schedules', text]]
}
