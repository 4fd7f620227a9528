import type { ExitCode } from './exit-code.ts'
import type { Terminal } from './terminal.ts'

/** What a command needs to run, and the exit code that it sets. */
export interface CommandContext {
  readonly terminal: Terminal
  exit: ExitCode
}
