import type { Device } from '@tandem-gpu/core'

/** The conditions under which a measured choice is valid. */
export interface TuningSubject {
  readonly algorithm: string
  /** Increases when the candidates or their meaning change. */
  readonly version: number
  /** The element type, and whatever else the choice depends on. */
  readonly traits: readonly string[]
  /** Rounded to the nearest power of two. */
  readonly sizes: Readonly<Record<string, number>>
}

/**
 * One line, equal for all shapes of a class on equal devices; `on` may be a group, or some of its devices.
 */
export function tuningKey(
  on: { readonly backend: string; readonly devices: readonly Device[] },
  { algorithm, version, traits, sizes }: TuningSubject,
): string {
  const models = new Map<string, number>()
  for (const { info } of on.devices) {
    const model = `${info.name} (driver ${info.driver ?? 'unknown'})`
    models.set(model, (models.get(model) ?? 0) + 1)
  }
  const adapters = new Set(on.devices.map(({ info }) => info.id)).size
  const devices = [...models].map(([model, count]) => `${count} × ${model}`).sort()
  const classes = Object.entries(sizes).map(
    ([name, size]) => `${name} ${size === 0 ? 0 : `2^${Math.round(Math.log2(size))}`}`,
  )
  return [
    `${algorithm} ${version}`,
    on.backend,
    `${devices.join(' + ')} on ${adapters} adapters`,
    ...traits,
    ...classes,
  ].join(' | ')
}
