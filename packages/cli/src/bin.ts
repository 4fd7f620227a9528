import { interruptionOf } from './interruption.ts'
import { launchedProcesses, openJob } from './job.ts'
import { main, reportFailure } from './program.ts'
import { removeUnfinishedFiles } from './replacement-file.ts'
import { exitOnOutputError } from './standard-output.ts'
import { processTerminal } from './terminal.ts'

process.on('exit', removeUnfinishedFiles)
exitOnOutputError(process)
const terminal = processTerminal(interruptionOf(process), launchedProcesses(process.env) !== undefined)
process.exitCode = await openJob(process.env).then(
  (job) => main(process.argv.slice(2), terminal, job),
  (error) => reportFailure(error, false, terminal),
)
