import type { Plan, Transport } from '@tandem-gpu/core'
import type { FreedMemory, Handles, PlanPart, RankAdapter } from '@tandem-gpu/core/backend'
import type { InnerRuntime } from './message-memory.ts'
import type { MpiExecutable } from './mpi-executable.ts'
import type { MpiRuns, RunningRank } from './mpi-runs.ts'

/**
 * This rank's devices, and how they exchange data with those of other ranks: `LinkedDevices` directly,
 * `ScheduledDevices` through messages of MPI.
 */
export interface RankDevices {
  readonly inner: InnerRuntime
  readonly transport: Transport
  /** As `Ranks.sharesMemory`: the runtime has the devices of all ranks. */
  readonly sharesMemory: boolean
  /** As `Ranks.throughHost`. */
  readonly throughHost: boolean
  /** As `Ranks.survivesFailures`. */
  readonly survivesFailures: boolean
  /** Whether devices of different ranks wait for each other, so that runs of several groups must not overlap. */
  readonly takesTurns: boolean
  readonly freedMemory?: FreedMemory | undefined
  /** `localOrdinal` contains, for each device of the group, its position among the runtime's devices. */
  instantiate(plan: Plan<Handles, PlanPart>, localOrdinal: readonly number[]): Promise<MpiExecutable>
  runsOf(rank: RunningRank): MpiRuns
  interrupted(executable: MpiExecutable): void
  /** Called when waiting for other ranks would never succeed. */
  break(): void
  /** Called when the group is closed or was not opened. */
  close(): void
}

/**
 * For each device of the group, its position among the devices of its rank, or among all if memory is shared.
 */
export function localOrdinals(devices: readonly RankAdapter[], sharesMemory: boolean): number[] {
  const counts = new Map<number, number>()
  return devices.map(({ rank }, all) => {
    if (sharesMemory) return all
    const ordinal = counts.get(rank) ?? 0
    counts.set(rank, ordinal + 1)
    return ordinal
  })
}
