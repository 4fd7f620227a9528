import type { Backend } from '../backend.ts'
import { GpuError } from '../errors.ts'
import type { Plan } from '../plan.ts'

export interface ReferenceBackendOptions {
  /** Adapters to offer; default 1 (a group may open it as any number of virtual devices). */
  readonly devices?: number
  /** Seed of the order of execution; default 1. */
  readonly seed?: number
  /** False: no device may access another's memory. Default true. */
  readonly peerAccess?: boolean
}

/** A backend on the CPU that runs each plan in a seeded random order that its edges allow. */
export interface ReferenceBackend extends Backend {
  /** Applied to each plan when it runs: `(plan) => withoutEdge(plan, from, to)`, say. */
  transformPlan: ((plan: Plan) => Plan) | undefined
  /** Takes effect at the next run. */
  seed: number
  /** Calls of `Runtime.run` so far. */
  readonly runCalls: number
}

export function referenceBackend(options: ReferenceBackendOptions = {}): ReferenceBackend {
  throw new GpuError('unsupported', `The reference backend with seed ${options.seed} is being written.`)
}
