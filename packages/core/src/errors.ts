/**
 * Stable codes, safe to branch on: `no-driver` a driver or loader is missing · `no-device` too few devices
 * fit · `unsupported` the device or backend cannot do it · `validation` wrong arguments, found before
 * anything runs · `compilation` a kernel does not compile (line and column are set) · `out-of-memory` ·
 * `too-large` a stated limit is exceeded · `device-lost` nothing can run on the group any more · `driver` the
 * driver reported an unexpected error · `aborted` the caller's AbortSignal fired · `timeout` a run took
 * longer than its `timeoutSeconds`; the group is lost only if kernels cannot be stopped, and the message says
 * so.
 */
export type GpuErrorCode =
  | 'no-driver'
  | 'no-device'
  | 'unsupported'
  | 'validation'
  | 'compilation'
  | 'out-of-memory'
  | 'too-large'
  | 'device-lost'
  | 'driver'
  | 'aborted'
  | 'timeout'

/** What a `GpuError` may have in addition to its code and message. */
export interface GpuErrorDetails {
  cause?: unknown
  /** 1-based position in the WGSL source, for `compilation`. */
  line?: number
  column?: number
}

/** The one error class of Tandem. */
export class GpuError extends Error {
  override readonly name = 'GpuError'
  readonly code: GpuErrorCode
  declare readonly line: number | undefined
  declare readonly column: number | undefined

  constructor(code: GpuErrorCode, message: string, details: GpuErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.code = code
    // Set only if present, because Node prints the fields of an uncaught error.
    if (details.line !== undefined) this.line = details.line
    if (details.column !== undefined) this.column = details.column
  }
}

/** The error for a wrong argument; `message` is a sentence that includes its value. */
export function invalid(message: string, details?: GpuErrorDetails): GpuError {
  return new GpuError('validation', message, details)
}

/** Whether an error is a `GpuError`, and has this `code` if one is given. */
export function isGpuError(error: unknown, code?: GpuErrorCode): error is GpuError {
  // Errors of another copy of this module, for instance in a bundle, also count.
  const isOne =
    error instanceof GpuError || (error instanceof Error && error.name === 'GpuError' && 'code' in error)
  return isOne && (code === undefined || (error as GpuError).code === code)
}
