import { exitCode } from './exit-code.ts'
import { fileReason } from './file-error.ts'

/**
 * Ends the process where standard output takes no more: with a sentence for a full disk, and quietly where a
 * reader such as `head` has what it wants.
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
  // Where standard error takes no more, nothing can report it.
  stderr.on('error', () => exit(exitCode.fileError))
}
