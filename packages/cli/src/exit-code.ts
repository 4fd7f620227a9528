import { type GpuErrorCode, isGpuError } from '@tandem-gpu/core'
import { ClosedPipeError, FileError, fileReason, isFileSystemError } from './file-error.ts'
import { printable } from './printable.ts'

/**
 * The exit codes of the process. `interrupted` is the shell's 128 + SIGINT, and `closedPipe` 128 + SIGPIPE;
 * `internal` and `fileError` are EX_SOFTWARE and EX_IOERR of sysexits(3).
 */
export const exitCode = {
  ok: 0,
  wrongAnswer: 1,
  badUsage: 2,
  noDevice: 3,
  outOfMemory: 4,
  internal: 70,
  fileError: 74,
  interrupted: 130,
  closedPipe: 141,
} as const

/** One of the exit codes. */
export type ExitCode = (typeof exitCode)[keyof typeof exitCode]

/** Wrong arguments or input files. The process exits with 2 and prints only the message. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code: 'bad-usage' | 'bad-input'

  constructor(message: string, code: 'bad-usage' | 'bad-input' = 'bad-usage') {
    super(message)
    this.code = code
  }
}

/** A failure, as a user or a script sees it. */
export interface Failure {
  readonly exit: ExitCode
  readonly code: string
  readonly message: string
}

const exitOfGpuError: Record<GpuErrorCode, ExitCode> = {
  'no-driver': exitCode.noDevice,
  'no-device': exitCode.noDevice,
  'device-lost': exitCode.noDevice,
  timeout: exitCode.noDevice,
  driver: exitCode.noDevice,
  'out-of-memory': exitCode.outOfMemory,
  unsupported: exitCode.badUsage,
  validation: exitCode.badUsage,
  'too-large': exitCode.badUsage,
  compilation: exitCode.internal,
  aborted: exitCode.interrupted,
}

export function failureOf(error: unknown): Failure {
  if (error instanceof UsageError) {
    return { exit: exitCode.badUsage, code: error.code, message: error.message }
  }
  if (isGpuError(error)) {
    return { exit: exitOfGpuError[error.code], code: error.code, message: error.message }
  }
  if (error instanceof FileError) {
    const exit = error instanceof ClosedPipeError ? exitCode.closedPipe : exitCode.fileError
    return { exit, code: error.code, message: error.message }
  }
  if (isFileSystemError(error)) {
    const file = error.path === undefined ? 'A file' : printable(error.path)
    return {
      exit: exitCode.fileError,
      code: 'file',
      message: `${file} cannot be used: ${fileReason(error)}.`,
    }
  }
  if (error instanceof Error && error.name === 'AbortError') {
    return { exit: exitCode.interrupted, code: 'aborted', message: 'Interrupted; nothing was written.' }
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { exit: exitCode.internal, code: 'internal', message }
}
