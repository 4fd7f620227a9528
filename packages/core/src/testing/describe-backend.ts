import { describe } from 'vitest'
import type { Backend } from '../backend.ts'
import { describeCommands } from './conformance/commands.ts'
import { describeDispatches } from './conformance/dispatches.ts'
import { describeMemory } from './conformance/memory.ts'
import { describePrograms } from './conformance/programs.ts'
import { Suite } from './conformance/suite.ts'

export interface ConformanceOptions {
  /** Devices to open, virtual ones where there are fewer adapters. Default 2. */
  readonly devices?: number
}

/**
 * Declares the conformance suite (vitest) for one backend; every backend passes all of it. Tests of a backend that has no
 * adapters are skipped, with its reason.
 */
export function describeBackend(
  name: string,
  backend: () => Backend,
  options: ConformanceOptions = {},
): void {
  describeRanks(name, () => [backend()], options)
}

/** The same for the backends of several ranks that share this process: each test runs on all of them at once. */
export function describeRanks(
  name: string,
  backends: () => readonly Backend[],
  options: ConformanceOptions = {},
): void {
  describe(`backend ${name}`, () => {
    const suite = new Suite(backends, options.devices ?? 2)
    suite.install()
    describeMemory(suite)
    describeCommands(suite)
    describeDispatches(suite)
    describePrograms(suite)
  })
}
