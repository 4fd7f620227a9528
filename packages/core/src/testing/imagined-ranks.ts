import type { Backend } from '../backend/backend.ts'
import { GpuError } from '../errors.ts'
import type { PlanPart } from '../plan/plan.ts'
import type { Ranks } from '../ranks/ranks.ts'
import { referenceAdapter } from './reference-backend.ts'
import { executeInRandomOrder } from './reference-execution.ts'
import { ReferenceRuntime } from './reference-runtime.ts'

/**
 * A backend for one rank of many with one device each, of which the others are imagined: whatever this rank
 * says, all say. For what recording costs on a large group; programs with messages cannot run.
 * `sharesMemory`: as `Ranks` has it.
 */
export function imaginedRanks(rank: number, count: number, sharesMemory = false): Backend {
  const adapters = Array.from({ length: count }, (_, other) => ({
    ...referenceAdapter('imagined', 0, 2 ** 30),
    id: `imagined-${other}`,
    rank: other,
  }))
  return {
    name: 'imagined',
    adapters: async () => ({ adapters }),
    open: async (chosen) => {
      const runtime = new ReferenceRuntime<PlanPart>(chosen, {
        canAccessPeer: () => sharesMemory,
        memoryByteLength: 2 ** 30,
        execute: (memory, options) => executeInRandomOrder(memory, options, 1),
      })
      const ranks: Ranks = {
        rank,
        count,
        sharesMemory,
        gather: async (_key, message, number = 0) => [{ rank: 0, message, number }],
        deliver: async () => {
          throw new GpuError('unsupported', 'Imagined ranks deliver nothing.')
        },
        leave: () => {},
        interrupted: () => {},
        diverged: () => {},
      }
      return Object.assign(runtime, { ranks })
    },
  }
}
