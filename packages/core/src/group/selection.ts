import type { Absence, Adapter, AdapterReport, Telemetry } from '../backend/adapter.ts'
import type { Backend } from '../backend/backend.ts'
import { requireCount } from '../buffers/view.ts'
import { counted, describedValue, isObject } from '../described-value.ts'
import { GpuError, invalid } from '../errors.ts'
import { requireOptions } from '../options.ts'
import { loadOf, type SelectBy, selectBy } from './load.ts'

/** Which backends and devices to choose. */
export interface SelectionOptions {
  /**
   * In order of preference. The first backend with hardware adapters is chosen; software adapters only if no
   * backend has hardware.
   */
  readonly backends: readonly Backend[]
  /**
   * Default: every adapter of the chosen backend (for software, one per process). A number above that of the
   * adapters opens virtual devices: always on a software adapter, and only with `virtual: true` on hardware.
   * Otherwise `openGroup` rejects with `no-device`.
   */
  readonly devices?: number | undefined
  /** Lets several devices share one GPU if there are fewer GPUs than `devices`. Default false. */
  readonly virtual?: boolean | undefined
  /**
   * How to choose if there are more adapters than `devices`: the least loaded first. Default `index`. A
   * backend over several processes always uses the first ones in rank order.
   */
  readonly by?: SelectBy | undefined
  /** Keeps only the adapters for which this is true. */
  readonly adapters?: ((adapter: Adapter) => boolean) | undefined
}

/** An adapter and its place in the ranking. */
export interface RankedAdapter {
  readonly adapter: Adapter
  /** 0 is best. */
  readonly rank: number
  /**
   * The value that the ranking compares; lower is better. Absent if the adapter does not have this reading,
   * and for `index`.
   */
  readonly score?: number
  /** One sentence with the values. */
  readonly reason: string
  readonly telemetry?: Telemetry
}

/** Which adapters a group uses, and why. */
export interface Selection {
  /** One entry per device; an adapter appears again for each virtual device. */
  readonly chosen: readonly Adapter[]
  /**
   * The adapters that were considered: those of the chosen backend that the caller's filter keeps, and only
   * hardware if there is any.
   */
  readonly ranked: readonly RankedAdapter[]
  /** Every backend asked, in order, with the number of adapters it has. */
  readonly backends: readonly {
    readonly name: string
    readonly adapters: number
    readonly absence?: Absence
  }[]
  /** For a group over several processes, also how data moves between them, and why no faster way is used. */
  readonly reason: string
}

interface Offer {
  readonly backend: Backend
  readonly report: AdapterReport
  /** The adapters that the caller's filter keeps. */
  readonly kept: readonly Adapter[]
}

export const selectionOptions = {
  backends: 'any',
  devices: 'any',
  virtual: 'boolean',
  by: selectBy,
  adapters: 'function',
} as const

/**
 * Chooses the backend and its adapters as `openGroup` does. Rejects with `no-device`, naming what was found.
 */
export async function selectAdapters(
  options: SelectionOptions,
): Promise<Selection & { readonly backend: Backend }> {
  requireOptions(options, 'selectAdapters', selectionOptions)
  return chooseAdapters(options)
}

/** The same, with options that are checked already. */
export async function chooseAdapters(
  options: SelectionOptions,
): Promise<Selection & { readonly backend: Backend }> {
  const { backends, by = 'index', virtual = false } = options
  requireBackends(backends)
  if (options.devices !== undefined) requireCount(options.devices, 'The number of devices', 1)
  // All backends are queried at once: over several processes, these calls number the groups, so their order
  // must not depend on how long another backend takes.
  const reports = await Promise.allSettled(backends.map(async (backend) => backend.adapters()))
  const offers = backends.map((backend, i): Offer => {
    const settled = reports[i]!
    if (settled.status === 'rejected') throw settled.reason
    const report = settled.value
    return { backend, report, kept: report.adapters.filter(options.adapters ?? (() => true)) }
  })
  const offer =
    offers.find(({ kept }) => kept.some((adapter) => !adapter.software)) ??
    offers.find(({ kept }) => kept.length > 0)
  if (offer === undefined) throw new GpuError('no-device', nothingFound(offers))

  const hardware = offer.kept.filter((adapter) => !adapter.software)
  const software = hardware.length === 0
  const considered = software ? offer.kept : hardware
  // Every process has the same list, in rank order, and must make the same choice, so sensor readings are
  // ignored.
  const overRanks = considered.some((adapter) => adapter.rank !== undefined)
  const devices = options.devices ?? (software && !overRanks ? 1 : considered.length)
  const found = `${offer.backend.name} has ${counted(considered.length, software ? 'software adapter' : 'device')} (${considered.map(({ name }) => name).join(', ')})`
  if (devices > considered.length && !software && !virtual)
    throw new GpuError(
      'no-device',
      `${counted(devices, 'device')} requested, but ${found}. Several virtual devices on one GPU need \`virtual: true\`; software adapters are not used while there is hardware.`,
    )
  const ranked = await rank(considered, overRanks ? 'index' : by)
  const adapters = ranked.length
  const place = (i: number) => {
    if (devices <= adapters) return i
    // Over ranks, devices must be in rank order, so the virtual devices of one adapter are adjacent.
    return overRanks ? Math.floor((i * adapters) / devices) : i % adapters
  }
  const chosen = Array.from({ length: devices }, (_, i) => ranked[place(i)]!.adapter)
  const how =
    devices > considered.length
      ? `${devices} virtual devices share ${counted(considered.length, 'adapter')}`
      : devices === considered.length
        ? devices === 1
          ? 'it is used'
          : 'all are used'
        : `${devices} of ${considered.length} ${devices === 1 ? 'is' : 'are'} used, ${overRanks ? 'the first in rank order' : by === 'index' ? 'the first in order' : `the best by ${by}`}`
  return {
    backend: offer.backend,
    chosen,
    ranked,
    backends: offers.map(({ backend, report: { adapters, absence } }) => ({
      name: backend.name,
      adapters: adapters.length,
      ...(absence && { absence }),
    })),
    reason: [
      `${found}; ${how}.`,
      ...(software ? ['No backend has hardware.'] : []),
      ...offers.slice(0, offers.indexOf(offer)).flatMap(passedOver),
    ].join(' '),
  }
}

function requireBackends(backends: unknown): void {
  if (!Array.isArray(backends))
    throw invalid(`The option backends is ${describedValue(backends)}; it must be an array of backends.`)
  for (const [i, backend] of backends.entries()) {
    if (isObject(backend) && 'adapters' in backend && 'open' in backend) continue
    const call = typeof backend === 'function' ? `: call it, as in ${backend.name || 'webgpu'}()` : ''
    throw invalid(
      `Backend ${i} of the option backends is ${describedValue(backend)}${call}; it must be a backend.`,
    )
  }
}

/** Why a preferred backend was not chosen, if it is missing something. */
function passedOver({ backend, report: { absence } }: Offer): string[] {
  return absence === undefined ? [] : [`${backend.name} was skipped: ${absence.reason}`]
}

async function rank(adapters: readonly Adapter[], by: SelectBy): Promise<RankedAdapter[]> {
  const rated = await Promise.all(
    adapters.map(async (adapter, index) => {
      if (by === 'index')
        return { adapter, index, reason: `${adapter.name} is number ${index} of its backend.` }
      const telemetry = await adapter.telemetry?.().catch(() => undefined)
      return { adapter, index, ...loadOf(adapter, telemetry, by), ...(telemetry && { telemetry }) }
    }),
  )
  const score = (rating: { score?: number }) => rating.score ?? Number.POSITIVE_INFINITY
  return rated
    .toSorted((a, b) => (score(a) === score(b) ? a.index - b.index : score(a) - score(b)))
    .map(({ index: _, ...rating }, position) => ({ ...rating, rank: position }))
}

function nothingFound(offers: readonly Offer[]): string {
  if (offers.length === 0) return 'The list of backends is empty, so there is no device.'
  const reasons = offers.map(({ backend, report }) => {
    const { adapters, absence } = report
    if (adapters.length > 0)
      return `${backend.name} has ${counted(adapters.length, 'adapter')} (${adapters.map(({ name }) => name).join(', ')}), which the filter excludes.`
    const remedy = absence?.remedy === undefined ? '' : ` ${absence.remedy}`
    return `${backend.name}: ${absence?.reason ?? 'no adapters.'}${remedy}`
  })
  return `No usable device was found. ${reasons.join(' ')}`
}
