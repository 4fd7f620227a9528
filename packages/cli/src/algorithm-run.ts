import type { Report } from '@tandem-gpu/algorithms'
import type { DeviceGroup, ProgramSpan, Schedule } from '@tandem-gpu/core'
import type { AlgorithmOptions } from './algorithm-options.ts'
import type { CommandContext } from './command-context.ts'
import { exitCode } from './exit-code.ts'
import { withGroup } from './group-options.ts'
import { formatJson } from './json.ts'
import { formatReport, type ReportLine } from './report-text.ts'
import { RunFiles } from './run-files.ts'
import { chromeTrace } from './trace.ts'

/** The options of the command line in the form in which the algorithms take them. */
export interface RunSettings {
  readonly schedule: Schedule
  readonly verify: boolean
  readonly warmup?: number
  readonly samples: number
  readonly seed: number
  readonly signal: AbortSignal
  readonly trace?: (spans: readonly ProgramSpan[]) => void
}

export interface AlgorithmRun<R extends Report> {
  /** Opens the input and output files. It is called before any device is opened, so that wrong files are reported early. */
  prepare?(files: RunFiles): Promise<void>
  compute(group: DeviceGroup, settings: RunSettings): Promise<R>
  /** Lines of text besides those that every report has. */
  describe(report: R): readonly ReportLine[]
}

/** Opens files and devices, runs, prints the report, and sets the exit code. */
export async function runAlgorithm<R extends Report>(
  context: CommandContext,
  options: AlgorithmOptions,
  run: AlgorithmRun<R>,
): Promise<void> {
  const { terminal } = context
  const files = new RunFiles()
  try {
    const traceFile = options.trace === undefined ? undefined : await files.output(options.trace)
    await run.prepare?.(files)
    const spans: ProgramSpan[] = []
    const report = await withGroup(options, (group) =>
      run.compute(group, settingsOf(options, terminal.signal, spans)),
    )
    terminal.progress.stop()
    await traceFile?.write(chromeTrace([{ name: report.algorithm, devices: report.deviceNames, spans }]))
    terminal.signal.throwIfAborted()
    const wrong = report.checked && !report.verified
    if (!wrong) await files.commit()
    terminal.out(
      options.json ? formatJson(report) : formatReport(report, run.describe(report), terminal.colors),
    )
    if (wrong) {
      context.exit = exitCode.wrongAnswer
      terminal.error(`tandem: the result is wrong (${report.verification}), so no file is written.\n`)
    }
  } finally {
    await files.close()
  }
}

function settingsOf(options: AlgorithmOptions, signal: AbortSignal, spans: ProgramSpan[]): RunSettings {
  const { schedule, verify, warmup, samples, seed } = options
  const collect = (found: readonly ProgramSpan[]) => {
    for (const span of found) spans.push(span)
  }
  return {
    schedule,
    verify,
    ...(warmup === undefined ? {} : { warmup }),
    samples,
    seed,
    signal,
    ...(options.trace === undefined ? {} : { trace: collect }),
  }
}
