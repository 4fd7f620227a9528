import { interruptionOf } from './interruption.ts'
import { main } from './program.ts'
import { removeUnfinishedFiles } from './replacement-file.ts'
import { exitOnOutputError } from './standard-output.ts'
import { processTerminal } from './terminal.ts'

process.on('exit', removeUnfinishedFiles)
exitOnOutputError(process)
process.exitCode = await main(process.argv.slice(2), processTerminal(interruptionOf(process)))
