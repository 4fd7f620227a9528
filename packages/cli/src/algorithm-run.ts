import type { MeasureProgress, Report } from '@tandem-gpu/algorithms'
import { type DeviceGroup, type Program, type ProgramSpan, printPlan } from '@tandem-gpu/core'
import type { AlgorithmCommandOptions } from './algorithm-options.ts'
import type { CommandContext } from './command.ts'
import { exitCode, UsageError } from './exit-code.ts'
import { withGroup } from './group-options.ts'
import { type Job, prepareOnAllRanks } from './job.ts'
import { formatJson } from './json.ts'
import { mostDrawnCommands, planPicture } from './plan-picture.ts'
import { formatNumber, formatSeconds } from './quantity.ts'
import { formatReport, type ReportLine } from './report-text.ts'
import { RunFiles } from './run-files.ts'
import { beginHandover, type Terminal } from './terminal.ts'
import { chromeTrace } from './trace.ts'

/** The command line's options, in the form that the algorithms accept. */
type RunSettings = ReturnType<typeof settingsOf>

/** `Files` is what `prepare` opens. */
export interface AlgorithmRun<R extends Report, Files> {
  /**
   * Opens the input and output files. Called before any device is opened, so that wrong files are reported
   * early.
   */
  prepare(files: RunFiles): Promise<Files>
  compute(group: DeviceGroup, settings: RunSettings, files: Files): Promise<R>
  /** Lines of text in addition to those of every report. */
  describe(report: R): readonly ReportLine[]
}

/** Opens files and devices, runs, prints the report, and sets the exit code. */
export async function runAlgorithm<R extends Report, Files>(
  context: CommandContext,
  options: AlgorithmCommandOptions,
  run: AlgorithmRun<R, Files>,
): Promise<void> {
  const { terminal } = context
  const { job } = options
  const files = new RunFiles(options, terminal.progress)
  try {
    const [traceFile, planFile, prepared] = await prepareOnAllRanks(
      job,
      async () =>
        [
          await files.output(options.trace, 'json'),
          await files.output(options.plan, 'svg', 'txt'),
          await run.prepare(files),
        ] as const,
    )
    const spans: ProgramSpan[] = []
    let plan: string | undefined
    terminal.progress.start('Opening the devices')
    const report = await withGroup(options, (group) => {
      if (options.verbose) terminal.error(`${group.selection.reason}\n`)
      terminal.progress.start('Preparing the data')
      const settings = settingsOf(options, terminal, {
        spans: (found) => {
          for (const span of found) spans.push(span)
        },
        program: (program, path) => {
          plan ??= planText(path, program)
        },
      })
      return run.compute(group, settings, prepared)
    })
    terminal.progress.start('Finishing')
    if (plan !== undefined) await planFile?.write(Buffer.from(plan))
    await traceFile?.write(
      chromeTrace([
        { name: report.algorithm, devices: report.deviceNames, spans: await allSpans(job, spans) },
      ]),
    )
    beginHandover(terminal)
    const wrong = report.checked && !report.verified
    if (!wrong) await files.commit()
    const lines = [...run.describe(report), ...comparisonLine(report)]
    const text = options.json
      ? formatJson(report.algorithm, report)
      : formatReport(report, lines, terminal.colors)
    files.say(text, terminal, options)
    if (wrong) {
      context.exit = exitCode.wrongAnswer
      terminal.error(`tandem: the result is wrong (${report.verification}), so no file was written.\n`)
    }
  } finally {
    await files.close()
  }
}

/** The format follows from the file's name. */
function planText(path: string, { plan }: Program): string {
  if (!path.toLowerCase().endsWith('.svg')) return `${printPlan(plan)}\n`
  if (plan.commands.length > mostDrawnCommands)
    throw new UsageError(
      `The program has ${plan.commands.length} commands, but a picture can show at most ${mostDrawnCommands}; write text with --plan plan.txt.`,
    )
  return planPicture(plan)
}

/** The commands of all processes of a job, each timed from the start of its own run. */
async function allSpans(
  job: Job | undefined,
  spans: readonly ProgramSpan[],
): Promise<readonly ProgramSpan[]> {
  if (job === undefined) return spans
  const said = await job.gather(JSON.stringify(spans))
  return said.flatMap(({ message }) => JSON.parse(message) as ProgramSpan[])
}

/** Shows how many of the runs are done, and the work that follows them. */
export function showRuns({ progress }: Terminal, verify: boolean): (runs: MeasureProgress) => void {
  return ({ done, total }) => {
    if (done === total) progress.start(verify ? 'Checking the result' : 'Reading the result')
    else if (done > 0) progress.reach(done)
    else if (total === 1) progress.start('Running the program')
    else progress.start('Running the program', total, 'runs')
  }
}

function settingsOf(
  options: AlgorithmCommandOptions,
  terminal: Terminal,
  take: { spans(found: readonly ProgramSpan[]): void; program(program: Program, path: string): void },
) {
  const { schedule, verify, warmup, samples, seed, compareSchedules, trace, plan } = options
  return {
    schedule,
    verify,
    warmup,
    samples,
    seed,
    compareSchedules,
    signal: terminal.signal,
    onRun: showRuns(terminal, verify),
    trace: trace === undefined ? undefined : take.spans,
    onProgram: plan === undefined ? undefined : (program: Program) => take.program(program, plan),
  }
}

/** A line that compares the two schedules, if both were timed. */
export function comparisonLine({
  comparison,
  backend,
}: Pick<Report, 'comparison' | 'backend'>): readonly ReportLine[] {
  if (comparison === undefined) return []
  const { serialSeconds, overlappedSeconds, speedUp } = comparison
  const times = `serial ${formatSeconds(serialSeconds)}, overlapped ${formatSeconds(overlappedSeconds)}`
  const order = backend === 'webgpu' ? ' (WebGPU runs both in recorded order)' : ''
  return [['schedules', `${times}; serial / overlapped = ${formatNumber(speedUp)}${order}`]]
}
