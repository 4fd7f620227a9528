import { describe } from 'vitest'
import type { Backend } from '../../backend/backend.ts'
import { describeCommandQueues } from './command-queues.ts'
import { describeCommands } from './commands.ts'
import { describeDebug } from './debug.ts'
import { describeDispatches } from './dispatches.ts'
import { describeMemory } from './memory.ts'
import { describePrograms } from './programs.ts'
import { Suite } from './suite.ts'

/** Declares the suite's tests; `describeBackend` and `describeRanks` are what users call. */
export function describeConformance(name: string, backends: () => readonly Backend[], devices: number): void {
  describe(`backend ${name}`, () => {
    const suite = new Suite(backends, devices)
    suite.install()
    describeMemory(suite)
    describeCommands(suite)
    describeDispatches(suite)
    describeDebug(suite)
    describePrograms(suite)
    describeCommandQueues(suite)
  })
}
