import { interruptionOf } from './interruption.ts'
import { launchedProcesses, openJob, printsForAll } from './job.ts'
import { main, reportFailure } from './program.ts'
import { removeUnfinishedFiles } from './replacement-file.ts'
import { exitOnOutputError } from './standard-output.ts'
import { processTerminal } from './terminal.ts'

process.on('exit', removeUnfinishedFiles)
exitOnOutputError(process)
const terminal = processTerminal(
  interruptionOf(process, printsForAll(process.env)),
  launchedProcesses(process.env) !== undefined,
)
process.exitCode = await openJob(process.env).then(
  async (job) => {
    const exitCode = await main(process.argv.slice(2), terminal, job)
    const failure =
      exitCode === 0 || job === undefined || job.rank === 0 ? undefined : await job.joinFailure()
    return failure === undefined ? exitCode : reportFailure(failure, false, terminal)
  },
  (error) => reportFailure(error, false, terminal),
)
