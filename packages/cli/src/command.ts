import type { Command } from 'commander'
import type { BenchWork } from './bench/case.ts'
import type { ExitCode } from './exit-code.ts'
import type { Terminal } from './terminal.ts'

/** Everything that a command needs to run, and the exit code that it sets. */
export interface CommandContext {
  readonly terminal: Terminal
  /** All commands, including this one. */
  readonly commands: readonly CommandModule[]
  exit: ExitCode
}

/**
 * A command. Its file in `commands/` exports it as `command`, and a line in `commands/index.ts` loads the
 * file.
 */
export interface CommandModule {
  readonly name: string
  /** The description in the help of `tandem`. */
  readonly description: string
  /** Examples for its help, which the tests parse. */
  readonly examples: readonly string[]
  /**
   * The definitions in schemas/1.json that its documents name, each with arguments that print one quickly:
   * the tests run them, with a kernel that reads and writes `x` as kernel.wgsl.
   */
  readonly documents: Readonly<Record<string, string>>
  /** The cases that `bench` times, by kind of work. */
  readonly works?: Readonly<Record<string, BenchWork>>
  /** Adds options and an action to `command`. */
  define(command: Command, context: CommandContext): void
}
