import type { Schedule } from '@tandem-gpu/core'
import { type Command, Option } from 'commander'
import { addGroupOptions, addJsonOption, type GroupOptions, wholeNumber } from './group-options.ts'

/** The options that the command of every algorithm takes besides its sizes and files. */
export interface AlgorithmOptions extends GroupOptions {
  readonly schedule: Schedule
  readonly verify: boolean
  readonly warmup?: number | undefined
  readonly samples: number
  readonly seed: number
  readonly cast?: boolean | undefined
  readonly trace?: string | undefined
  readonly json?: boolean | undefined
}

export function addAlgorithmOptions(command: Command): Command {
  addGroupOptions(command)
    .addOption(
      new Option(
        '--schedule <order>',
        'serial: one command after another; overlapped: commands that do not depend on each other run at once',
      )
        .choices(['serial', 'overlapped'])
        .default('overlapped'),
    )
    .option('--no-verify', 'do not check the result against the reference')
    .option(
      '--warmup <n>',
      'untimed runs before the timed ones (default 1, on a software GPU 0)',
      wholeNumber(0),
    )
    .option('--samples <n>', 'timed runs, whose median is reported', wholeNumber(1), 1)
    .option('--seed <n>', 'seed of the generated input', wholeNumber(0), 1)
    .option('--cast', 'convert float64, int64 and uint64 files to 32 bits, with a range check')
    .option(
      '--trace <file>',
      'write the times of all commands in Chrome’s trace format (for ui.perfetto.dev)',
    )
  return addJsonOption(command)
}
