import type { Schedule } from '@tandem-gpu/core'
import { type Command, Option } from 'commander'
import type { InputFile } from './array-files.ts'
import {
  addGroupOptions,
  addJsonOption,
  type DevicesOption,
  type GroupOptions,
  wholeNumber,
} from './group-options.ts'
import { refuseIdleOptions } from './idle-options.ts'
import { elementTypes, type NpyElementType } from './npy/element-conversion.ts'

/** The options of every algorithm's command, besides its sizes and files. */
export interface AlgorithmCommandOptions extends GroupOptions {
  readonly schedule: Schedule
  readonly verify: boolean
  readonly warmup?: number | undefined
  readonly samples: number
  readonly seed?: number | undefined
  readonly compareSchedules?: boolean | undefined
  readonly cast?: boolean | undefined
  readonly trace?: string | undefined
  readonly plan?: string | undefined
  readonly json?: boolean | undefined
  readonly quiet?: boolean | undefined
}

/** Options of commands that process a vector, either generated or read from a file. */
export interface VectorOptions extends AlgorithmCommandOptions {
  readonly elements?: number
  readonly type?: NpyElementType
  readonly input?: string
}

/** The vector that a command generates if the user says nothing else. */
export interface UsualVector {
  readonly elements: number
  readonly type: NpyElementType
}

export function addVectorOptions(command: Command, { elements, type }: UsualVector): Command {
  return command
    .addOption(
      new Option('--elements <n>', `length of the generated vector (default ${elements})`).argParser(
        wholeNumber(0),
      ),
    )
    .addOption(typeOption(type))
}

/** The vector of a run, in the options of an algorithm; a file's elements come in its own order. */
export function vectorOf(
  { elements, type }: VectorOptions,
  input: InputFile | undefined,
  usual: UsualVector,
) {
  return {
    elements: input?.length ?? elements ?? usual.elements,
    type: input?.type ?? type ?? usual.type,
    input: input?.fileOrder(),
  }
}

export function typeOption(usual = 'f32'): Option {
  return new Option('--type <type>', `element type (default ${usual}, or the file’s)`).choices(elementTypes)
}

/** The element types that a file may have: only that of `--type`, if the user gives it. */
export function acceptedTypes(type: NpyElementType | undefined): readonly NpyElementType[] {
  return type === undefined ? elementTypes : [type]
}

/** Names of the options that name input files. */
const inputs = ['input', 'a', 'b', 'source', 'boundary', 'edges', 'values']

/** `seed` is false for algorithms that generate no random data. */
export function addAlgorithmOptions(
  command: Command,
  { seed = true, software }: { seed?: boolean } & Pick<DevicesOption, 'software'> = {},
): Command {
  addGroupOptions(command, { software })
    .addOption(
      new Option(
        '--schedule <order>',
        'serial: one command after another; overlapped: independent commands run at the same time',
      )
        .choices(['serial', 'overlapped'])
        .default('overlapped'),
    )
    .option('--no-verify', 'do not check the result against the reference')
    .option(
      '--warmup <n>',
      'untimed runs before the timed ones (default 1; 0 on a software GPU)',
      wholeNumber(0),
    )
    .option('--samples <n>', 'timed runs, whose median is reported', wholeNumber(1), 1)
    .option('--compare-schedules', 'also time the other schedule, in alternating samples')
    .option('--cast', 'convert 64-bit numbers of input files to 32 bits, with a range check')
    .option('--plan <file>', 'write the recorded program, as a picture (.svg) or as text (.txt)')
    .option(
      '--trace <file>',
      'write the times of all commands in Chrome’s trace format (for ui.perfetto.dev)',
    )
  if (seed) command.option('--seed <n>', 'seed of the generated input', wholeNumber(0), 1)
  command.option('-v, --verbose', 'say on standard error which devices are used, and why')
  refuseIdleOptions(command, [
    {
      option: 'cast',
      when: (options) => inputs.every((name) => options[name] === undefined),
      because: '--cast converts input files, but there are none.',
    },
    {
      option: 'seed',
      when: ({ input, a, b }) => input !== undefined || (a !== undefined && b !== undefined),
      because: '--seed is for generated input, but all input comes from files.',
    },
  ])
  return addJsonOption(command)
}
