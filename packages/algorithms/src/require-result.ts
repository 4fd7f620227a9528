import { describedValue, GpuError } from '@tandem-gpu/core'

/**
 * Throws `validation` for a value that is not the result of another call of this package or of core, such as
 * a promise that was not awaited. `property` is a property that results have; `source` describes the call
 * that returns them, as in `a value that compileTranspose returned`.
 */
export function requireResult(value: unknown, property: string, what: string, source: string): void {
  if (typeof value === 'object' && value !== null && property in value) return
  throw new GpuError('validation', `${what} is ${describedValue(value)}; it must be ${source}.`)
}

/** The error for arguments that are wrong before anything runs. */
export function invalid(message: string): GpuError {
  return new GpuError('validation', message)
}
