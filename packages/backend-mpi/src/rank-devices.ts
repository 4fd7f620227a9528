import type {
  Adapter,
  Executable,
  FreedMemory,
  Handles,
  HostAllocation,
  Plan,
  PlanPart,
  Runtime,
  Transport,
} from '@tandem-gpu/core'
import type { ProgramMemory } from './message-memory.ts'
import type { MpiRuns, RunningRank } from './mpi-runs.ts'
import type { PreparedNodes } from './native-addon.ts'
import type { Segment } from './segments.ts'

/** A runtime of the inner backend, as far as plans do not matter. */
export type InnerRuntime = Omit<Runtime, 'instantiate' | 'native'>

/** A program of one rank. */
export interface MpiExecutable extends Executable {
  readonly segments: readonly (Pick<Segment, 'originalIndex'> & { readonly executable: Executable })[]
  /** What the inner backend has made of the plan. */
  readonly made: readonly Executable[]
  readonly nodes: PreparedNodes
  /** One segment and no message: the inner backend repeats it. */
  readonly alone: boolean
  /** Where its messages go through. */
  readonly memory: ProgramMemory
  /** What messages are sent from and received into. */
  readonly messageMemory: readonly HostAllocation[]
}

/**
 * This rank's devices, and how they reach those of the other ranks: `LinkedDevices` do so by themselves, `ScheduledDevices` by messages of MPI.
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
  /** What waits for another rank waits in vain. */
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

/** Host memory of the program itself that messages are sent from and received into. */
export function hostMemoryOfMessages({ buffers, commands }: Plan<Handles, PlanPart>): HostAllocation[] {
  return commands.flatMap((part) => {
    if ((part.kind !== 'send' && part.kind !== 'receive') || part.region === undefined) return []
    const buffer = buffers[part.region.buffer]!
    return buffer.kind === 'host' ? [buffer.allocation] : []
  })
}
