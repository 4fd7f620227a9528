import { createRequire } from 'node:module'
import completion from '@bomb.sh/tab/commander'
import { Command, CommanderError, Option } from 'commander'
import type { CommandContext } from './command-context.ts'
import { bandwidthCommand } from './commands/bandwidth.ts'
import { benchCommand } from './commands/bench.ts'
import { cacheCommand } from './commands/cache.ts'
import { demoCommand } from './commands/demo.ts'
import { devicesCommand } from './commands/devices.ts'
import { doctorCommand } from './commands/doctor.ts'
import { fftCommand } from './commands/fft.ts'
import { histogramCommand } from './commands/histogram.ts'
import { jacobiCommand } from './commands/jacobi.ts'
import { matmulCommand } from './commands/matmul.ts'
import { monitorCommand } from './commands/monitor.ts'
import { reduceCommand } from './commands/reduce.ts'
import { ringCommand } from './commands/ring.ts'
import { runCommand } from './commands/run.ts'
import { scanCommand } from './commands/scan.ts'
import { selectCommand } from './commands/select.ts'
import { sortCommand } from './commands/sort.ts'
import { topologyCommand } from './commands/topology.ts'
import { translateCommand } from './commands/translate.ts'
import { transposeCommand } from './commands/transpose.ts'
import { completionScript } from './completion-script.ts'
import { type ExitCode, exitCode, failureOf } from './exit-code.ts'
import { helpEpilogue } from './help-examples.ts'
import { type Job, terminalOf } from './job.ts'
import { formatJson } from './json.ts'
import { printableLines } from './printable.ts'
import { silentProgress } from './progress.ts'
import type { Terminal } from './terminal.ts'

const commands: readonly ((context: CommandContext) => Command)[] = [
  demoCommand,
  devicesCommand,
  selectCommand,
  runCommand,
  translateCommand,
  transposeCommand,
  reduceCommand,
  scanCommand,
  histogramCommand,
  sortCommand,
  fftCommand,
  matmulCommand,
  jacobiCommand,
  ringCommand,
  benchCommand,
  doctorCommand,
  topologyCommand,
  bandwidthCommand,
  monitorCommand,
  (context) => cacheCommand(context),
]

/**
 * Runs `tandem` with these arguments (without `node` and the script), in a job as one of its processes, and returns the exit code. Never
 * throws.
 */
export async function main(argv: readonly string[], processTerminal: Terminal, job?: Job): Promise<ExitCode> {
  const shown = terminalOf(job, processTerminal)
  const json = argv.includes('--json')
  let interrupted = false
  const terminal: Terminal = {
    ...shown,
    out(text) {
      context.terminal.progress.stop()
      // What was interrupted has said so, and prints no results that come in time.
      if (!interrupted) shown.out(text)
    },
    error(text) {
      context.terminal.progress.stop()
      shown.error(text)
    },
  }
  const context: MutableContext = { terminal, exit: exitCode.ok }
  const interrupt = () => {
    const { progress } = context.terminal
    if (interrupted || progress.finishing) return
    interrupted = true
    const message = `Interrupted${progress.whereabouts}; nothing was written.`
    progress.stop()
    report({ code: 'aborted', message }, json, shown)
  }
  terminal.signal.addEventListener('abort', interrupt)
  try {
    await createProgram(context, job).parseAsync(argv, { from: 'user' })
    return interrupted ? exitCode.interrupted : context.exit
  } catch (error) {
    if (terminal.signal.aborted) {
      interrupt()
      if (interrupted) return exitCode.interrupted
    }
    return reportFailure(error, json, terminal)
  } finally {
    context.terminal.progress.stop()
    terminal.signal.removeEventListener('abort', interrupt)
  }
}

/** `--quiet` takes the terminal away before the command begins. */
interface MutableContext extends CommandContext {
  terminal: Terminal
}

function createProgram(context: MutableContext, job: Job | undefined): Command {
  const { terminal } = context
  const { version } = createRequire(import.meta.url)('../package.json') as { version: string }
  const program = new Command('tandem')
    .description(
      'Runs transpose, reduction, scan, histogram, sort, FFT, matrix product and Jacobi, and kernels of your own, on every GPU found or on a software GPU',
    )
    .version(version)
    .showHelpAfterError('(tandem --help lists the commands, tandem <command> --help its options)')
    .exitOverride()
    .configureOutput({
      writeOut: terminal.out,
      writeErr: (text) => terminal.error(printableLines(text)),
      getOutHasColors: () => terminal.colors.isColorSupported,
      getErrHasColors: () => terminal.colors.isColorSupported,
    })
    .addHelpText(
      'after',
      `\nExit codes: 0 right · 1 wrong result · 2 wrong arguments or input · 3 no usable device · 4 out of memory\n${helpEpilogue('')}`,
    )
  if (job !== undefined) program.hook('preAction', (_, command) => void command.setOptionValue('job', job))
  for (const create of commands) {
    const command = create(context)
    command.copyInheritedSettings(program)
    command.addHelpText('after', helpEpilogue(command.name()))
    command.addOption(
      new Option('-q, --quiet', 'print only errors; the exit code gives the outcome').conflicts('json'),
    )
    command.hook('preAction', (_, action) => {
      if (action.getOptionValue('quiet'))
        context.terminal = { ...terminal, out() {}, progress: silentProgress() }
    })
    program.addCommand(command)
  }
  const completions = completion(program, { completionCommandName: 'completion' })
  program.commands
    .find((command) => command.name() === 'completion')!
    .action((shell: string) => context.terminal.out(completionScript(completions, shell)))
    .addHelpText('after', helpEpilogue('completion'))
  return program
}

export function reportFailure(error: unknown, json: boolean, terminal: Terminal): ExitCode {
  if (error instanceof CommanderError) {
    // Commander has already printed the message, the help or the version.
    if (error.exitCode === 0) return exitCode.ok
    const message = printableLines(error.message.replace(/^error: /, ''))
    if (json) terminal.out(formatJson('error', { error: { code: 'bad-usage', message } }))
    return exitCode.badUsage
  }
  const failure = failureOf(error)
  report(failure, json, terminal)
  return failure.exit
}

function report(
  failure: { readonly code: string; readonly message: string },
  json: boolean,
  terminal: Terminal,
): void {
  const message = printableLines(failure.message)
  if (json) terminal.out(formatJson('error', { error: { code: failure.code, message } }))
  terminal.error(`${terminal.colors.red('tandem:')} ${message}\n`)
}
