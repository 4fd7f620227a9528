import type { Plan, Schedule } from './plan.ts'

/** Recorded commands with their order; runs any number of times. It keeps its buffers and kernels alive. */
export interface Program {
  readonly label: string
  readonly schedule: Schedule
  /** As data: print it with `printPlan`. */
  readonly plan: Plan
  /** Allocates scratch and makes the plan ready. `run` does it when the caller did not. */
  prepare(): Promise<void>
  destroy(): void
  [Symbol.dispose](): void
}
