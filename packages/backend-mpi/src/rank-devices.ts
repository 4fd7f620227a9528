import type { Adapter, Plan, Transport } from '@tandem-gpu/core'
import type { FreedMemory, Handles, PlanPart } from '@tandem-gpu/core/backend'
import type { InnerRuntime } from './message-memory.ts'
import type { MpiExecutable } from './mpi-executable.ts'
import type { MpiRuns, RunningRank } from './mpi-runs.ts'

/**
 * This rank's devices, and how they reach those of the other ranks: `LinkedDevices` do so by themselves,
 * `ScheduledDevices` by messages of MPI.
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
  /** As `Ranks.limitsTime`. */
  readonly limitsTime: boolean
  readonly freedMemory?: FreedMemory | undefined
  /** `localOrdinal` gives, for each device of the group, its position among the runtime's. */
  instantiate(plan: Plan<Handles, PlanPart>, localOrdinal: readonly number[]): Promise<MpiExecutable>
  runsOf(rank: RunningRank): MpiRuns
  interrupted(executable: MpiExecutable): void
  /** Waits for other ranks will never succeed. */
  break(): void
  /** The group is closed, or was not opened. */
  close(): void
}

/** For each device of the group, its position among those of its rank, or of all where memory is shared. */
export function localOrdinals(devices: readonly Adapter[], sharesMemory: boolean): number[] {
  const counts = new Map<number, number>()
  return devices.map(({ rank }, all) => {
    if (sharesMemory) return all
    const ordinal = counts.get(rank!) ?? 0
    counts.set(rank!, ordinal + 1)
    return ordinal
  })
}
