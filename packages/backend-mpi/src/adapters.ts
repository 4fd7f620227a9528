import { availableParallelism, cpus } from 'node:os'
import {
  type Absence,
  type Adapter,
  type AdapterReport,
  type Backend,
  type DeviceFeature,
  GpuError,
  type Telemetry,
} from '@tandem-gpu/core'
import type { RankAdapter } from '@tandem-gpu/core/backend'
import type { Opening } from './opening.ts'
import type { MpiSession } from './session.ts'

/** A rank's report of the adapters that its inner backend finds. */
interface RankAdapters {
  readonly rank: number
  readonly adapters: readonly AdapterSnapshot[]
  readonly absence?: Absence
  readonly notes?: readonly string[]
}

/** A serializable adapter, with one reading of its sensors, so that all ranks choose by the same values. */
interface AdapterSnapshot extends Omit<Adapter, 'features' | 'telemetry' | 'rank'> {
  readonly features: readonly DeviceFeature[]
  readonly reading?: Telemetry
}

/** The inner backend's adapter for each adapter that this rank has reported. */
const innerAdapters = new WeakMap<Adapter, Adapter>()
/** The opening that found each adapter. */
const openings = new WeakMap<Adapter, Opening>()

/** The opening for a group over these adapters. */
export function openingOf(session: MpiSession, adapters: readonly Adapter[]): Opening {
  const [first] = adapters
  return (first && openings.get(first)) ?? session.newOpening()
}

export function innerAdapter(adapter: Adapter): Adapter {
  const inner = innerAdapters.get(adapter)
  if (inner === undefined)
    throw new GpuError('validation', `Adapter "${adapter.id}" does not come from this backend's adapters().`)
  return inner
}

/** A note if the launcher gives a process too few of the machine's cores for its threads. */
export function bindingNote(available: number, cores: number): string | undefined {
  if (available >= 3 || cores < 4) return undefined
  return `The process is bound to ${available} of ${cores} CPU cores. It needs three to be fast: one each for JavaScript, messages and its devices. With Open MPI, mpirun --bind-to none lets each process use all cores.`
}

/** The adapters of all ranks, in rank order. The GPUs of a host are divided among its ranks. */
export async function gatherAdapters(
  session: MpiSession,
  inner: Backend,
  virtual: boolean,
): Promise<AdapterReport> {
  const opening = session.newOpening()
  const report = await inner.adapters()
  const binding = bindingNote(availableParallelism(), cpus().length)
  const ownNotes = [...(report.notes ?? []), ...(binding === undefined ? [] : [binding])]
  const own: RankAdapters = {
    rank: session.rank,
    adapters: await Promise.all(report.adapters.map(snapshot)),
    ...(report.absence && { absence: report.absence }),
    ...(ownNotes.length > 0 && { notes: ownNotes }),
  }
  const said = (await opening.gatherAdapters(JSON.stringify(own))).map(
    ({ message }) => JSON.parse(message) as RankAdapters,
  )
  const byRank = said.toSorted((a, b) => a.rank - b.rank)
  const adapters = byRank.flatMap(({ rank, adapters }) => {
    const { machine } = session.ranks[rank]!
    const neighbours = byRank.filter((other) => session.ranks[other.rank]!.machine === machine)
    return dealt(rank, adapters, neighbours, virtual).map((index) => {
      const { reading, features, ...rest } = adapters[index]!
      const adapter: RankAdapter = {
        ...rest,
        id: `rank ${rank}: ${rest.id}`,
        rank,
        features: new Set(features),
        ...(reading && { telemetry: async () => reading }),
      }
      openings.set(adapter, opening)
      if (rank === session.rank) innerAdapters.set(adapter, report.adapters[index]!)
      return adapter
    })
  })
  const notes = distinct(byRank.flatMap(({ rank, notes = [] }) => notes.map((note) => ({ rank, note }))))
  const absent = byRank.find(({ absence }) => absence !== undefined)
  return {
    adapters,
    ...(notes.length > 0 && { notes }),
    ...(adapters.length === 0 && {
      absence: absent?.absence ?? { code: 'no-device' as const, reason: 'No rank has an adapter.' },
    }),
  }
}

/**
 * The indices of the adapters seen by `rank` that belong to it. All software adapters do. If all ranks of a
 * host see the same GPUs, these are divided in rank order into shares that are as equal as possible. If ranks
 * see different GPUs, because a launcher binds them, a GPU belongs to the lowest rank that sees it.
 */
export function dealt(
  rank: number,
  adapters: RankAdapters['adapters'],
  neighbours: readonly RankAdapters[],
  virtual: boolean,
): number[] {
  const software = adapters.flatMap((adapter, index) => (adapter.software ? [index] : []))
  const hardware = adapters.flatMap((adapter, index) => (adapter.software ? [] : [index]))
  const names = (list: RankAdapters['adapters']) =>
    list.filter((adapter) => !adapter.software).map((adapter) => adapter.uuid ?? adapter.id)
  const seen = names(adapters)
  const alike = neighbours.every((other) => names(other.adapters).join() === seen.join())
  if (!alike) {
    const earlier = new Set(
      neighbours.filter((other) => other.rank < rank).flatMap((other) => names(other.adapters)),
    )
    return [...software, ...hardware.filter((_, i) => virtual || !earlier.has(seen[i]!))]
  }
  const position = neighbours.findIndex((other) => other.rank === rank)
  const [ranks, gpus] = [neighbours.length, hardware.length]
  const first = Math.floor((position * gpus) / ranks)
  const share =
    gpus >= ranks
      ? hardware.slice(first, Math.floor(((position + 1) * gpus) / ranks))
      : virtual
        ? hardware.slice(first, first + 1)
        : hardware.slice(position, position + 1)
  return [...software, ...share]
}

async function snapshot(adapter: Adapter): Promise<AdapterSnapshot> {
  const { features, telemetry, rank: _, ...rest } = adapter
  const reading = await telemetry?.().catch(() => undefined)
  return { ...rest, features: [...features], ...(reading && { reading }) }
}

/** Each note once, with the ranks that have it. */
function distinct(notes: readonly { rank: number; note: string }[]): string[] {
  const ranks = new Map<string, number[]>()
  for (const { rank, note } of notes) ranks.set(note, [...(ranks.get(note) ?? []), rank])
  return [...ranks].map(([note, of]) => `Rank ${of.join(', ')}: ${note}`)
}
