import type { Report } from '@tandem-gpu/algorithms'
import type { Transport } from '@tandem-gpu/core'
import { formatNumber, formatSeconds } from './quantity.ts'
import type { Terminal } from './terminal.ts'

export type ReportLine = readonly [label: string, value: string]

/** A report as text, one fact per line. */
export function formatReport(
  report: Report,
  extra: readonly ReportLine[],
  colors: Terminal['colors'],
): string {
  const lines: ReportLine[] = [
    [
      'shape',
      Object.entries(report.shape)
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
    ],
    ['devices', describeDevices(report)],
    ...describeProcesses(report),
    ['schedule', report.schedule],
    ...extra,
    [
      'time',
      report.seconds > 0 ? `${formatSeconds(report.seconds)} (${report.clock} clock)` : 'nothing to time',
    ],
    ['rate', `${formatNumber(report.rate)} ${report.unit}`],
    ['result', formatVerdict(report, colors)],
    ...report.notes.map((note): ReportLine => ['note', note]),
  ]
  const width = Math.max(...lines.map(([label]) => label.length))
  const body = lines.map(([label, value]) => `  ${label.padEnd(width)}  ${value}`).join('\n')
  return `${colors.bold(report.algorithm)}\n${body}\n`
}

export function describeDevices({ devices, adapter, software, backend }: Report): string {
  return `${devices} × ${adapter} (${backend}${software ? ', software' : ''})`
}

function describeProcesses({ processes }: Report): ReportLine[] {
  if (processes === undefined) return []
  const { count, transport, refused } = processes
  return [['processes', `${count}, transport ${transportText({ name: transport, refused })}`]]
}

/** The transport, and why no faster one is used. */
export function transportText({ name, refused }: Transport): string {
  return [`${name}.`, ...refused.map(({ name, reason }) => `Why not ${name}: ${reason}`)].join(' ')
}

function formatVerdict(report: Report, colors: Terminal['colors']): string {
  const verdict = verdictOf(report)
  const color = { verified: colors.green, WRONG: colors.red, 'not checked': colors.yellow }[verdict]
  if (!report.checked) return color(verdict)
  const error = report.maxError === 0 ? '' : `; largest absolute error ${formatNumber(report.maxError)}`
  return `${color(verdict)}: ${report.verification}${error}`
}

export function verdictOf({
  checked,
  verified,
}: Pick<Report, 'checked' | 'verified'>): 'verified' | 'WRONG' | 'not checked' {
  if (!checked) return 'not checked'
  return verified ? 'verified' : 'WRONG'
}
