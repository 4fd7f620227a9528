import type { Command } from 'commander'
import { UsageError } from './exit-code.ts'

/** An option that changes nothing beside the others that are given, and why. */
export interface IdleRule {
  /** The option's name in the action's options. */
  readonly option: string
  /** Whether it is idle, where it is given. */
  readonly when: (options: Readonly<Record<string, unknown>>) => boolean
  /** A sentence for the user. */
  readonly because: string
}

/** Refuses options of this command that the user gives and that do nothing, so that nobody relies on them. */
export function refuseIdleOptions(command: Command, rules: readonly IdleRule[]): Command {
  return command.hook('preAction', (_, action) => {
    for (const { option, when, because } of rules)
      if (action.getOptionValueSource(option) === 'cli' && when(action.opts())) throw new UsageError(because)
  })
}

/**
 * Rules for a flag with which a command does many runs of its own choice: these options are for a single run,
 * and change nothing beside it.
 */
export function singleRunRules(flag: string, options: readonly string[]): IdleRule[] {
  return options.map((option) => ({
    option,
    when: (given) => given[flag] === true,
    because: `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} is for a single run and cannot be used with --${flag}.`,
  }))
}

/** Rules for the sizes that --input gives where a file is read: its length or its shape. */
export function fileRules(gives: 'length' | 'shape', options: readonly string[]): IdleRule[] {
  const names = options.map((option) => `--${option}`).join(' and ')
  return options.map((option) => ({
    option,
    when: ({ input }) => input !== undefined,
    because: `${names} cannot be used with --input: the file determines the ${gives}.`,
  }))
}
