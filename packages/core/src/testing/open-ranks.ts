import { type DeviceGroup, type OpenGroupOptions, openGroup } from '../group/group.ts'
import { type SimulatedRanks, type SimulatedRanksOptions, simulateRanks } from './simulated-ranks.ts'

/** A group over simulated ranks, as each rank has it. */
export interface OpenRanks {
  readonly simulation: SimulatedRanks
  readonly groups: readonly DeviceGroup[]
  /** Runs `body` on every rank at once. */
  each<R>(body: (group: DeviceGroup) => Promise<R>): Promise<R[]>
  destroy(): Promise<void>
}

/** Opens a group on each of so many simulated ranks; `options` as for `openGroup`, without `backends`. */
export async function openRanks(
  simulated: SimulatedRanksOptions,
  options: Partial<OpenGroupOptions> = {},
): Promise<OpenRanks> {
  const simulation = simulateRanks(simulated)
  const groups = await Promise.all(
    simulation.backends.map((backend) => openGroup({ backends: [backend], ...options })),
  )
  return {
    simulation,
    groups,
    each: (body) => Promise.all(groups.map(body)),
    destroy: async () => {
      await Promise.all(groups.map((group) => group.destroy()))
    },
  }
}
