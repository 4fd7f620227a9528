import { parseWgsl, WgslError, type WgslModule, type WgslWarning } from '@tandem-gpu/wgsl'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { UsageError } from './exit-code.ts'
import { readInputText } from './input-file.ts'
import { printable } from './printable.ts'
import type { Terminal } from './terminal.ts'

/** Options of commands that read a WGSL file. */
export interface KernelOptions {
  readonly entryPoint?: string
  readonly constant: Readonly<Record<string, number | boolean>>
}

export function addKernelOptions(command: Command): Command {
  return command
    .option('--entry-point <name>', 'the compute entry point (default: the only one)')
    .addOption(
      repeated(
        '--constant <name=value>',
        'value of an override; may be given several times',
        collectConstant,
      ),
    )
}

/** An option that may be given several times and collects values by name. */
export function repeated<T>(
  flags: string,
  description: string,
  collect: (text: string, previous: Record<string, T>) => Record<string, T>,
): Option {
  return new Option(flags, description).default({}, 'none').argParser(collect)
}

function collectConstant(text: string, previous: Record<string, number | boolean>) {
  const [name, value] = nameAndRest(text, previous)
  const parsed = value === 'true' ? true : value === 'false' ? false : Number(value)
  if (value.trim() === '' || Number.isNaN(parsed))
    throw new InvalidArgumentError('It must be name=value, such as TILE=16 or fast=true.')
  return { ...previous, [name]: parsed }
}

/** `x=rest`; the rest may contain further equals signs. Each name may be given once. */
export function nameAndRest(text: string, previous: object): [name: string, rest: string] {
  const at = text.indexOf('=')
  if (at < 1 || at === text.length - 1) throw new InvalidArgumentError('It must be name=value.')
  const name = text.slice(0, at)
  if (Object.hasOwn(previous, name)) throw new InvalidArgumentError(`The name ${name} is given twice.`)
  return [name, text.slice(at + 1)]
}

/**
 * Parses a WGSL file. Throws `UsageError` if the file cannot be read, if its syntax is wrong, or if the
 * options leave more than one compute entry point.
 */
export async function kernelModule(path: string, { entryPoint }: KernelOptions): Promise<WgslModule> {
  // Some editors start a file with a byte-order mark, which is not valid WGSL.
  const module = parsed((await readInputText(path)).replace(/^\uFEFF/, ''), path)
  const names = module.entryPoints.filter(({ stage }) => stage === 'compute').map(({ name }) => name)
  if (names.length > 1 && (entryPoint === undefined || !names.includes(entryPoint))) {
    const fault = entryPoint === undefined ? '' : ` and none named ${printable(entryPoint)}`
    throw new UsageError(
      `${printable(path)} has the compute entry points ${names.join(', ')}${fault}; choose one, as in --entry-point ${names[0]}.`,
      'bad-input',
    )
  }
  return module
}

/** Prints the warnings that WGSL prescribes for a kernel that compiles. */
export function showWarnings(terminal: Terminal, path: string, warnings: readonly WgslWarning[]): void {
  for (const { severity, line, column, text } of warnings)
    terminal.error(`${severity}: ${printable(path)}:${line}:${column}: ${text}\n`)
}

function parsed(wgsl: string, path: string): WgslModule {
  try {
    return parseWgsl(wgsl, { label: path })
  } catch (error) {
    if (!(error instanceof WgslError)) throw error
    throw new UsageError(error.message, 'bad-input')
  }
}
