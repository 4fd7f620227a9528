import type { Adapter, DeviceLimits } from '../backend/adapter.ts'
import type { Backend } from '../backend/backend.ts'
import type { Handles } from '../backend/handles.ts'
import type { RankedRuntime } from '../backend/runtime.ts'
import { requireCount } from '../buffers/view.ts'
import { requireOptions } from '../options.ts'
import type { Plan, PlanPart } from '../plan/plan.ts'
import type { Ranks } from '../ranks/ranks.ts'
import { referenceAdapter } from './reference-backend.ts'
import type { ReferenceExecutable } from './reference-handles.ts'
import { ReferenceRuntime } from './reference-runtime.ts'
import { SimulatedAgreement } from './simulated-agreement.ts'
import { type SimulatedNetwork, SimulatedRun } from './simulated-run.ts'

/** Options of `simulateRanks` and `openRanks`. */
export interface SimulatedRanksOptions {
  /** How many ranks there are. */
  readonly ranks: number
  /** Adapters of each rank; default 1. */
  readonly adapters?: number | readonly number[] | undefined
  /** Seed of the order of execution; default 1. */
  readonly seed?: number | undefined
  /** When a message's bytes leave the sender; default `mixed`, by the seed. */
  readonly messages?: 'eager' | 'rendezvous' | 'mixed' | undefined
  /** `adversarial` lets messages arrive as late as possible. Default `random`. */
  readonly order?: 'random' | 'adversarial' | undefined
  /** Memory of each device of a rank; default 1 GiB. */
  readonly memoryByteLength?: ((rank: number) => number) | undefined
  readonly limits?: Partial<DeviceLimits> | undefined
}

/**
 * Several ranks in one process, on the reference executor: `backends[r]` is what rank r opens its groups
 * with. All ranks open the same groups in the same order. Plans run command by command, and messages travel,
 * in a seeded random order that the plans' edges and the rules of `PlanMessage` allow, so that what the
 * program does not order shows as a wrong result.
 */
export interface SimulatedRanks {
  readonly backends: readonly Backend[]
  /** Take effect at the next run. */
  readonly network: SimulatedNetwork
  /** Applied to the plan of each rank when it runs. */
  transformPlan: (<H extends Handles>(plan: Plan<H, PlanPart>, rank: number) => Plan<H, PlanPart>) | undefined
  /** Which ranks have `Ranks.runAgreed`; none if it is absent. */
  runsAgreed: ((rank: number) => boolean) | undefined
  /** The rank is gone, like a process that is killed. */
  kill(rank: number): void
}

/**
 * Simulates ranks in one process, a backend for each, with messages in a seeded random order. Throws
 * `validation` for wrong options.
 */
export function simulateRanks(options: SimulatedRanksOptions): SimulatedRanks {
  requireOptions(options, 'simulateRanks', simulatedOptions)
  requireCount(options.ranks, 'The option ranks of simulateRanks', 1)
  return new RankSimulation(options)
}

const simulatedOptions = {
  ranks: 'any',
  adapters: 'any',
  seed: 'number',
  messages: ['eager', 'rendezvous', 'mixed'],
  order: ['random', 'adversarial'],
  memoryByteLength: 'function',
  limits: 'object',
} as const

class RankSimulation implements SimulatedRanks {
  readonly backends: readonly Backend[]
  readonly network: SimulatedNetwork
  transformPlan: SimulatedRanks['transformPlan']
  runsAgreed: SimulatedRanks['runsAgreed']
  readonly #options: SimulatedRanksOptions
  readonly #adapters: readonly Adapter[]
  /** What the ranks share, by group in the order of opening. */
  readonly #worlds: World[] = []

  constructor(options: SimulatedRanksOptions) {
    const { ranks, adapters = 1, seed = 1, messages = 'mixed', order = 'random' } = options
    this.#options = options
    this.network = { seed, messages, order, brokenRule: undefined }
    this.#adapters = Array.from({ length: ranks }, (_, rank) => {
      const length = typeof adapters === 'number' ? adapters : adapters[rank]!
      return Array.from({ length }, (_, index) => ({
        ...referenceAdapter('simulation', index, this.#memoryOf(rank), options.limits),
        id: `simulation-${rank}-${index}`,
        rank,
      }))
    }).flat()
    this.backends = Array.from({ length: ranks }, (_, rank) => {
      let opened = 0
      return {
        name: 'simulation',
        adapters: async () => ({ adapters: this.#adapters }),
        open: async (chosen: readonly Adapter[]) => this.#open(rank, opened++, chosen),
      }
    })
  }

  kill(rank: number): void {
    for (const world of this.#worlds) {
      world.agreement.leave(rank, 'the process was killed')
      world.runtimes[rank]?.lose('the process was killed')
    }
  }

  #memoryOf(rank: number): number {
    return this.#options.memoryByteLength?.(rank) ?? 2 ** 30
  }

  #open(rank: number, group: number, chosen: readonly Adapter[]): RankedRuntime {
    this.#worlds[group] ??= new World(this.#options.ranks)
    const world = this.#worlds[group]
    const agreement = world.agreement.of(rank)
    const runAgreed: Ranks['runAgreed'] = (executable, options, start, end) => {
      if (this.runsAgreed?.(rank) !== true) return undefined
      const started = agreement.gather(start.key, start.message)
      const running = async () => {
        if ((await started).length > 1) return undefined
        const { seconds } = await runtime.run(executable as ReferenceExecutable, options)
        return agreement.gather(end.key, end.message, seconds)
      }
      return { started, ended: running() }
    }
    const runtime = new ReferenceRuntime<PlanPart>(chosen, {
      canAccessPeer: (reader, owner) => chosen[reader]!.rank === chosen[owner]!.rank,
      memoryByteLength: this.#memoryOf(rank),
      execute: (memory, execution) => {
        const plan = this.transformPlan?.(memory.plan, rank) ?? memory.plan
        return world.runOf(rank, this.network).execute(rank, { ...memory, plan }, execution)
      },
    })
    world.runtimes[rank] = runtime
    void runtime.lost.then(({ message }) => world.leave(rank, message))
    return Object.assign(runtime, { ranks: { ...agreement, runAgreed } })
  }
}

/** What the ranks of one group share. */
class World {
  readonly runtimes: ReferenceRuntime<PlanPart>[] = []
  readonly agreement: SimulatedAgreement
  readonly #count: number
  /** Runs of the group, by their number; every rank takes part in each. */
  readonly #runs: SimulatedRun[] = []
  readonly #runsBegun: number[]

  constructor(count: number) {
    this.#count = count
    this.#runsBegun = new Array<number>(count).fill(0)
    this.agreement = new SimulatedAgreement(count, (rank, reason) => {
      for (const [other, runtime] of this.runtimes.entries())
        if (other !== rank) runtime?.lose(`rank ${rank} has left: ${reason}`)
    })
  }

  runOf(rank: number, network: SimulatedNetwork): SimulatedRun {
    const number = this.#runsBegun[rank]!++
    this.#runs[number] ??= new SimulatedRun(this.#count, network, number)
    return this.#runs[number]
  }

  /** A run in progress ends on the rank. */
  leave(rank: number, message: string): void {
    for (const run of this.#runs) run.end(rank, message)
  }
}
