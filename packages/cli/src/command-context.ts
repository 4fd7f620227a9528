import type { ExitCode } from './exit-code.ts'
import type { Terminal } from './terminal.ts'

/** What a command needs to run, and where it leaves its verdict. */
export interface CommandContext {
  readonly terminal: Terminal
  exit: ExitCode
}
