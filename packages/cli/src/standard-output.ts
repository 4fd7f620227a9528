import { exitCode } from './exit-code.ts'
import { fileReason } from './file-error.ts'

/**
 * Ends the process if standard output accepts no more data: with a sentence if the disk is full, and quietly
 * if a reader such as `head` has ended.
 */
export function exitOnOutputError({
  stdout,
  stderr,
  exit,
}: Pick<NodeJS.Process, 'stdout' | 'stderr' | 'exit'>): void {
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') exit(exitCode.closedPipe)
    stderr.write(`tandem: standard output cannot be written: ${fileReason(error)}.\n`)
    exit(exitCode.fileError)
  })
  // If standard error accepts no more data, nothing can be reported.
  stderr.on('error', () => exit(exitCode.fileError))
}
