import type { TuningOptions } from '@tandem-gpu/algorithms'
import type { Command } from 'commander'
import { TuningFolder } from './tuning-folder.ts'

/** The option of commands whose algorithms choose between measured candidates. */
export interface TuneOption {
  readonly tune: boolean
}

export function addTuneOption(command: Command): Command {
  return command.option(
    '--no-tune',
    'use the shipped choices of kernels and transports instead of measuring them for a new shape',
  )
}

/** The meaning of `--no-tune` in the options of an algorithm. */
export function tuningOptions({ tune }: TuneOption): TuningOptions {
  return { tuning: tune && new TuningFolder() }
}
