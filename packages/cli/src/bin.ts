import { exitCode } from './exit-code.ts'
import { removeUnfinishedFiles } from './output-file.ts'
import { main } from './program.ts'
import { processTerminal } from './terminal.ts'

// The first Ctrl-C lets the work in flight finish and close its devices; the second ends the process there and then.
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (interrupted.signal.aborted) process.exit(exitCode.interrupted)
    interrupted.abort()
  })
}
process.on('exit', removeUnfinishedFiles)
// `tandem … | head` closes the pipe early; there is nobody left to tell.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCode.ok)
  throw error
})

process.exitCode = await main(process.argv.slice(2), processTerminal(interrupted.signal))
