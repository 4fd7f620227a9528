import { exitCode } from './exit-code.ts'
import { fileReason } from './file-error.ts'

/** Ends the process with a sentence where standard output takes no more: a full disk, or a reader that has closed the pipe. */
export function exitOnOutputError({
  stdout,
  stderr,
  exit,
}: Pick<NodeJS.Process, 'stdout' | 'stderr' | 'exit'>): void {
  stdout.on('error', (error) => {
    stderr.write(`tandem: standard output cannot be written: ${fileReason(error)}.\n`)
    exit(exitCode.fileError)
  })
  // Where standard error takes no more, nothing can report it.
  stderr.on('error', () => exit(exitCode.fileError))
}
