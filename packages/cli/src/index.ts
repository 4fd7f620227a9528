export { type ExitCode, exitCode } from './exit-code.ts'
export { main } from './program.ts'
export { type RecordedTerminal, recordedTerminal, type Terminal } from './terminal.ts'
