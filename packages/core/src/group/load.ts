import type { Adapter, Telemetry } from '../backend/adapter.ts'

export const selectBy = ['index', 'utilization', 'memory', 'power', 'temperature', 'score'] as const

/**
 * How adapters are ranked: least loaded first; `index` keeps the backend's order. `score` weighs all
 * readings.
 */
export type SelectBy = (typeof selectBy)[number]

interface Load {
  /** Lower is better. */
  readonly score?: number
  readonly reason: string
}

const percent = (fraction: number) => `${Math.round(fraction * 100)} %`
const gibibytes = (byteLength: number) => `${(byteLength / 2 ** 30).toFixed(1)} GiB`

/** A member of `Telemetry`, and the text that describes its value. */
type Reading = readonly [
  name: 'computeUtilization' | 'memoryFreeByteLength' | 'powerWatts' | 'temperatureCelsius',
  text: (value: number) => string,
]
const readings: Readonly<Record<Exclude<SelectBy, 'index' | 'score'>, Reading>> = {
  utilization: ['computeUtilization', (busy) => `is ${percent(busy)} busy`],
  memory: ['memoryFreeByteLength', (free) => `has ${gibibytes(free)} free`],
  power: ['powerWatts', (watts) => `draws ${watts.toFixed(0)} W`],
  temperature: ['temperatureCelsius', (celsius) => `is at ${celsius.toFixed(0)} °C`],
}

/**
 * How loaded an adapter is by one reading. `memory` compares free bytes, so a larger idle device comes first.
 */
export function loadOf(
  { name }: Adapter,
  telemetry: Telemetry | undefined,
  by: Exclude<SelectBy, 'index'>,
): Load {
  const missing = { reason: `${name} reports no ${by}, so it comes last.` }
  if (telemetry === undefined) return missing
  if (by === 'score') return weighedLoad(name, telemetry) ?? missing
  const [reading, text] = readings[by]
  const value = telemetry[reading]
  if (value === undefined) return missing
  return { score: by === 'memory' ? -value : value, reason: `${name} ${text(value)}.` }
}

/**
 * The weighted mean of the available readings: busy fraction (weight 0.5), fraction of memory in use (0.3),
 * power as a fraction of its limit (0.1) and temperature as a fraction of 100 °C (0.1).
 */
function weighedLoad(name: string, telemetry: Telemetry): Load | undefined {
  const { computeUtilization, memoryTotalByteLength: total, memoryFreeByteLength: free } = telemetry
  const { powerWatts, powerLimitWatts, temperatureCelsius } = telemetry
  const parts: { weight: number; value: number; text: string }[] = []
  const add = (weight: number, value: number | undefined, what: string) => {
    if (value !== undefined) parts.push({ weight, value, text: `${what} ${percent(value)}` })
  }
  add(0.5, computeUtilization, 'busy')
  add(0.3, total !== undefined && free !== undefined ? 1 - free / total : undefined, 'memory used')
  add(
    0.1,
    powerWatts !== undefined && powerLimitWatts !== undefined ? powerWatts / powerLimitWatts : undefined,
    'power',
  )
  add(0.1, temperatureCelsius === undefined ? undefined : temperatureCelsius / 100, 'temperature')
  if (parts.length === 0) return undefined
  const weight = parts.reduce((sum, part) => sum + part.weight, 0)
  const score = parts.reduce((sum, part) => sum + part.weight * part.value, 0) / weight
  return { score, reason: `${name} scores ${score.toFixed(3)}: ${parts.map(({ text }) => text).join(', ')}.` }
}
