import { createRequire } from 'node:module'
import completion from '@bomb.sh/tab/commander'
import { Command, CommanderError, Option } from 'commander'
import type { CommandContext } from './command.ts'
import { loadCommands } from './commands/index.ts'
import { completionScript, suggestions } from './completion-script.ts'
import { type ExitCode, exitCode, failureOf, UsageError } from './exit-code.ts'
import { type Job, terminalOf } from './job.ts'
import { formatJson } from './json.ts'
import { printable, printableLines } from './printable.ts'
import { silentProgress } from './progress.ts'
import type { Terminal } from './terminal.ts'

/**
 * Runs `tandem` with these arguments (without `node` and the script), as one of the processes in a job, and
 * returns the exit code. Never throws.
 */
export async function main(argv: readonly string[], processTerminal: Terminal, job?: Job): Promise<ExitCode> {
  const shown = terminalOf(job, processTerminal)
  const json = argv.includes('--json')
  let interrupted = false
  const terminal: Terminal = {
    ...shown,
    out(text) {
      context.terminal.progress.stop()
      // An interrupted command has reported the interruption, and does not print results even if they arrive
      // in time.
      if (!interrupted) shown.out(text)
    },
    error(text) {
      context.terminal.progress.stop()
      shown.error(text)
    },
  }
  const context: MutableContext = { terminal, commands: await loadCommands(), exit: exitCode.ok }
  const interrupt = () => {
    const { progress } = context.terminal
    if (interrupted || progress.finishing) return
    interrupted = true
    const message = `Interrupted${progress.whereabouts}; nothing was written.`
    progress.finish()
    report({ code: 'aborted', message }, json, shown)
  }
  terminal.signal.addEventListener('abort', interrupt)
  try {
    // Ctrl-C may have come before there was anything to interrupt.
    terminal.signal.throwIfAborted()
    const program = createProgram(context, job)
    await program.parseAsync(withoutUnknownHelp(program, argv), { from: 'user' })
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

/**
 * The name alone if `help NAME` or `NAME --help` names a command that does not exist, so that it is refused:
 * Commander would show the help of `tandem` itself.
 */
function withoutUnknownHelp(program: Command, argv: readonly string[]): readonly string[] {
  const names = argv.filter((word) => !word.startsWith('-'))
  const name = names[0] === 'help' ? names[1] : names[0]
  if (name === 'help') return ['help']
  const known = program.commands.some((command) => command.name() === name)
  return name === undefined || known ? argv : [name]
}

/** `--quiet` removes the terminal before the command begins. */
interface MutableContext extends CommandContext {
  terminal: Terminal
}

function createProgram(context: MutableContext, job: Job | undefined): Command {
  const { terminal } = context
  const { version } = createRequire(import.meta.url)('../package.json') as { version: string }
  const program = new Command('tandem')
    .description(
      'Runs transpose, reduction, scan, histogram, sort, FFT, matrix product, ring product and Jacobi, and kernels of your own, on every GPU found or on a software GPU',
    )
    .version(version)
    .showHelpAfterError('(tandem --help lists the commands, tandem <command> --help its options)')
    .exitOverride()
    .configureOutput({
      writeOut: terminal.out,
      // Every error begins alike, whether Commander found it or a command.
      writeErr: (text) =>
        terminal.error(printableLines(text).replace(/^error:/, terminal.colors.red('tandem:'))),
      getOutHasColors: () => terminal.colors.isColorSupported,
      getErrHasColors: () => terminal.colors.isColorSupported,
    })
    .addHelpText(
      'after',
      `\nExit codes: 0 right · 1 wrong result · 2 wrong arguments or input · 3 no usable device · 4 out of memory\n${epilogue(programExamples)}`,
    )
  if (job !== undefined) program.hook('preAction', (_, command) => void command.setOptionValue('job', job))
  for (const { name, description, examples, define } of context.commands) {
    const command = program.command(name).description(description)
    define(command, context)
    command.addHelpText('after', epilogue(examples))
    command.addOption(
      new Option('-q, --quiet', 'print only errors; the exit code gives the outcome').conflicts('json'),
    )
    command.allowExcessArguments().hook('preAction', (_, action) => {
      refuseExcessArgument(action)
      if (action.getOptionValue('quiet'))
        context.terminal = { ...terminal, out() {}, progress: silentProgress() }
    })
  }
  const completions = completion(program, { completionCommandName: 'completion' })
  const commandNamed = (name: string) => program.commands.find((command) => command.name() === name)!
  const completionCommand = commandNamed('completion')
  completionCommand.registeredArguments[0]!.description = 'the shell'
  completionCommand
    .description('print the script that completes commands, options and files in a shell')
    .action((shell: string) => context.terminal.out(completionScript(completions, shell)))
    .addHelpText('after', epilogue(completionExamples))
  commandNamed('complete').action((words: string[]) =>
    context.terminal.out(suggestions(completions, program, words)),
  )
  return program
}

/** Throws `UsageError` for an argument that the command does not take, such as a file without its option. */
function refuseExcessArgument(command: Command): void {
  const excess = command.args[command.registeredArguments.length]
  if (excess === undefined) return
  const hasInput = command.options.some(({ long }) => long === '--input')
  const advice = hasInput ? `; name a file by an option, such as --input ${printable(excess)}` : ''
  throw new UsageError(`${command.name()} does not take the argument ${printable(excess)}${advice}.`)
}

/** Examples in the help of `tandem` itself, and of the command that a library makes. */
export const programExamples = [
  'tandem doctor',
  'tandem transpose --rows 768 --cols 1024 --devices 4',
  'tandem run --help',
]
export const completionExamples = [
  'source <(tandem completion bash)',
  'tandem completion fish > ~/.config/fish/completions/tandem.fish',
]

/** The help text below the options of a command. */
function epilogue(examples: readonly string[]): string {
  const lines = examples.map((line) => `  ${line}`)
  return `\nExamples:\n${lines.join('\n')}\n\nMore: https://github.com/tandem-gpu/tandem/blob/main/docs/cli.md`
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
  if (failure.exit !== exitCode.closedPipe) report(failure, json, terminal)
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
