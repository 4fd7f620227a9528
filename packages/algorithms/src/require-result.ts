import { describedValue, GpuError } from '@tandem-gpu/core'

/**
 * Throws `validation` for what is not the result of another call of this package or of core, such as a
 * promise that was not awaited. `property` is one that results have; `source` says what gives them, as in
 * `what compileTranspose resolves to`.
 */
export function requireResult(value: unknown, property: string, what: string, source: string): void {
  if (typeof value === 'object' && value !== null && property in value) return
  throw new GpuError('validation', `${what} is ${describedValue(value)}; it must be ${source}.`)
}
