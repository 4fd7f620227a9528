import type { Command } from 'commander'
import { UsageError } from './exit-code.ts'

/** An option that has no effect in combination with other given options, and the reason. */
export interface IdleRule {
  /** The name in the action's options. */
  readonly option: string
  /** Whether the option, if given, has no effect. */
  readonly when: (options: Readonly<Record<string, unknown>>) => boolean
  /** A sentence for the user. */
  readonly because: string
}

/** Rejects options that the user gives and that have no effect, so that nobody relies on them. */
export function refuseIdleOptions(command: Command, rules: readonly IdleRule[]): Command {
  return command.hook('preAction', (_, action) => {
    for (const { option, when, because } of rules)
      if (action.getOptionValueSource(option) === 'cli' && when(action.opts())) throw new UsageError(because)
  })
}

/**
 * Rules for a flag with which a command chooses its own runs: these options are for a single run, and have no
 * effect in combination with the flag.
 */
export function singleRunRules(flag: string, options: readonly string[]): IdleRule[] {
  return options.map((option) => ({
    option,
    when: (given) => given[flag] === true,
    because: `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} is for a single run and cannot be used with --${flag}.`,
  }))
}

/** Rules for the sizes (a length or a shape) that follow from the file of `--input`. */
export function fileRules(gives: 'length' | 'shape', options: readonly string[]): IdleRule[] {
  const names = options.map((option) => `--${option}`).join(' and ')
  return options.map((option) => ({
    option,
    when: ({ input }) => input !== undefined,
    because: `${names} cannot be used with --input: the file determines the ${gives}.`,
  }))
}
