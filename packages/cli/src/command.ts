import type { Command } from 'commander'
import type { BenchWork } from './bench/case.ts'
import type { ExitCode } from './exit-code.ts'
import type { Terminal } from './terminal.ts'

/** What a command needs to run, and the exit code that it sets. */
export interface CommandContext {
  readonly terminal: Terminal
  /** All of them, this one too. */
  readonly commands: readonly CommandModule[]
  exit: ExitCode
}

/**
 * One command: what its file in `commands/` exports as `command`, and a line in `commands/index.ts` loads.
 */
export interface CommandModule {
  readonly name: string
  /** Its line in the help of `tandem`. */
  readonly description: string
  /** Examples in its help, which the tests parse. */
  readonly examples: readonly string[]
  /**
   * The definitions in schemas/1.json that its documents name, each with arguments that print one quickly:
   * the tests run them, with a kernel that reads and writes `x` as kernel.wgsl.
   */
  readonly documents: Readonly<Record<string, string>>
  /** What `bench` times of it, by the name of the work. */
  readonly works?: Readonly<Record<string, BenchWork>>
  /** Gives `command` its options and its action. */
  define(command: Command, context: CommandContext): void
}
