import type { Schedule } from '@tandem-gpu/core'
import { type Command, Option } from 'commander'
import { addGroupOptions, addJsonOption, type GroupOptions, wholeNumber } from './group-options.ts'

/** What every algorithm's command takes besides its sizes and files. */
export interface AlgorithmOptions extends GroupOptions {
  readonly schedule: Schedule
  readonly verify: boolean
  readonly warmup?: number
  readonly samples: number
  readonly seed: number
  readonly cast?: boolean
  readonly trace?: string
  readonly json?: boolean
}

export function addAlgorithmOptions(command: Command): Command {
  addGroupOptions(command)
    .addOption(
      new Option(
        '--schedule <order>',
        'serial: one command after another; overlapped: whatever may run at once does',
      )
        .choices(['serial', 'overlapped'])
        .default('overlapped'),
    )
    .option('--no-verify', 'do not check the result against the reference')
    .option('--warmup <n>', 'runs before the clock counts (default 1, on a software GPU 0)', wholeNumber(0))
    .option('--samples <n>', 'timed runs, of which the median counts', wholeNumber(1), 1)
    .option('--seed <n>', 'of the generated input', wholeNumber(0), 1)
    .option('--cast', 'take float64, int64 and uint64 files, and convert them with a range check')
    .option('--trace <file>', 'write what ran when in Chrome trace format (opens in ui.perfetto.dev)')
  return addJsonOption(command)
}
