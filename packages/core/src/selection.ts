import type { Absence, Adapter, Telemetry } from './adapter.ts'
import type { Backend } from './backend.ts'
import { GpuError } from './errors.ts'
import type { OpenGroupOptions } from './group.ts'

/** How adapters are ranked: least loaded first; `index` keeps the backend's order. `score` weighs all readings. */
export type SelectBy = 'utilization' | 'memory' | 'power' | 'temperature' | 'score' | 'index'

export interface RankedAdapter {
  readonly adapter: Adapter
  /** 0 is best. */
  readonly rank: number
  /** What the ranking compares, lower is better; absent where the adapter lacks the reading. */
  readonly score?: number
  /** One sentence with the values. */
  readonly reason: string
  readonly telemetry?: Telemetry
}

/** Which adapters a group uses, and why. */
export interface Selection {
  /** One entry per device; an adapter appears again for each virtual device. */
  readonly chosen: readonly Adapter[]
  /** Every adapter of the chosen backend that the caller's filter keeps. */
  readonly ranked: readonly RankedAdapter[]
  /** Every backend asked, in order. */
  readonly backends: readonly {
    readonly name: string
    readonly adapters: number
    readonly absence?: Absence
  }[]
  readonly reason: string
}

/** Chooses the backend and its adapters as `openGroup` does. Rejects with `no-device`, naming what was found. */
export async function selectAdapters(
  options: OpenGroupOptions,
): Promise<Selection & { readonly backend: Backend }> {
  throw new GpuError('unsupported', `Selection of ${options.devices} devices is being written.`)
}
