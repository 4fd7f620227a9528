import { counted, type Device, type DeviceGroup } from '@tandem-gpu/core'
import { characterOf } from '../../device-character.ts'
import { splitRows } from '../../sharded-matrix.ts'
import type { MatmulShape } from '../matmul-shape.ts'
import { padded } from './matmul-memory.ts'
import { panelColumns } from './panel-columns.ts'

/**
 * The rates that determine a product's time. A model is either measured (`measureMatmulModel`) or assumed
 * (`assumedMatmulModel`). The assumed values are round figures for the class of device; they serve to compare
 * numbers of devices, not to predict times.
 */
export interface MatmulModel {
  readonly source: 'measured' | 'assumed'
  /** Multiplications and additions per second on one physical device. */
  readonly flopsPerSecond: number
  /** The transfer rate between host memory and one device, in each direction. */
  readonly hostBytesPerSecond: number
  /** The transfer rate between host memory and all devices together, in each direction. */
  readonly hostTotalBytesPerSecond: number
  /** The transfer rate from its peers into one device. */
  readonly peerBytesPerSecond: number
  /** The time that each command adds if another command waits for it. */
  readonly commandSeconds: number
}

/**
 * The predicted time of a product on each number of devices, the recommended number, and the number that is
 * used.
 */
export interface MatmulPrediction {
  readonly model: MatmulModel
  /** Predicted seconds with 1, 2, ... devices. */
  readonly seconds: readonly number[]
  /**
   * The recommended number: `chosen` if its time is within 2 % of the shortest, otherwise the smallest number
   * for which that holds.
   */
  readonly best: number
  readonly chosen: number
  /** One sentence with the values. */
  readonly reason: string
}

/** The figures of `DeviceCharacter.assumed`. */
export function assumedMatmulModel(group: DeviceGroup): MatmulModel {
  const { relayedBytesPerSecond, ...assumed } = characterOf(group).assumed
  const peers = group.devices.length > 1 && group.canAccessPeer(0, 1)
  return { source: 'assumed', ...assumed, ...(peers ? {} : { peerBytesPerSecond: relayedBytesPerSecond }) }
}

/**
 * The devices in the order in which a product uses them: one of each physical device before a second virtual
 * device of any.
 */
export function devicesByUse(group: DeviceGroup): Device[] {
  const seen = new Map<string, number>()
  return group.devices
    .map((device) => {
      const use = seen.get(device.info.id) ?? 0
      seen.set(device.info.id, use + 1)
      return { device, use }
    })
    .sort((x, y) => x.use - y.use || x.device.ordinal - y.device.ordinal)
    .map(({ device }) => device)
}

/** How a product will run. */
export interface PredictOptions {
  readonly streamed: boolean
  /** False if every device has all of B from the beginning. */
  readonly gathers?: boolean | undefined
  readonly panels?: number | undefined
  readonly rounds?: number | undefined
}

/**
 * The predicted seconds of a product on `devices`. The physical device with the most rows determines the
 * computing time. Resident: B is copied from the peers, its first panel before computing starts. Streamed: A
 * and C cross the host links once; B crosses them once in all if devices exchange it among themselves,
 * otherwise once for each device. The longest of computing, uploading and downloading hides the others except
 * for the first panel.
 */
function predictSeconds(
  model: MatmulModel,
  shape: MatmulShape,
  devices: readonly Device[],
  options: PredictOptions & { spread: boolean },
): number {
  const { m, n, k } = shape
  const count = devices.length
  const rows = splitRows(m, count)
  const perPhysical = new Map<string, number>()
  for (const [index, device] of devices.entries())
    perPhysical.set(device.info.id, (perPhysical.get(device.info.id) ?? 0) + rows[index]!.rows)
  const physical = perPhysical.size
  const compute = (2 * Math.max(...perPhysical.values()) * n * k) / model.flopsPerSecond
  const sharing = count / physical
  const bBytes = 4 * k * n
  if (!options.streamed) {
    const gathers = options.gathers !== false && count > 1
    const gather = gathers ? ((bBytes * (count - 1)) / count / model.peerBytesPerSecond) * sharing : 0
    const panels = Math.ceil(n / panelColumns(k, padded(n))) || 1
    const commands = gathers ? 2 * count : 1
    return Math.max(compute, gather) + Math.min(compute, gather) / panels + commands * model.commandSeconds
  }
  const panels = options.panels ?? 8
  const rounds = options.rounds ?? 1
  const link = Math.min(model.hostBytesPerSecond * physical, model.hostTotalBytesPerSecond)
  const fromHost = (4 * m * k + bBytes * rounds * (options.spread ? 1 : count)) / link
  const fromPeers = options.spread
    ? ((bBytes * rounds * (count - 1)) / count / model.peerBytesPerSecond) * sharing
    : 0
  const toHost = (4 * m * n) / link
  const longest = Math.max(compute, fromHost, fromPeers, toHost)
  const fill = (fromHost + fromPeers + toHost) / panels / rounds
  const commands = panels * rounds * (2 + (options.spread ? 2 * count : count))
  return longest + fill + commands * model.commandSeconds
}

/** Predicts the time on every number of devices. `chosen` is the number that is used. */
export function predictMatmul(
  group: DeviceGroup,
  shape: MatmulShape,
  model: MatmulModel,
  options: PredictOptions & { chosen?: number },
): MatmulPrediction {
  const devices = devicesByUse(group)
  const seconds = devices.map((_, index) => {
    const used = devices.slice(0, index + 1)
    const spread = used.every((x) => used.every((y) => group.canAccessPeer(x, y)))
    return predictSeconds(model, shape, used, { ...options, spread })
  })
  const fastest = Math.min(...seconds)
  const isFast = (value: number) => value <= fastest * 1.02
  const smallest = seconds.findIndex(isFast) + 1
  const chosen = options.chosen ?? smallest
  const best = isFast(seconds[chosen - 1]!) ? chosen : smallest
  const time = (count: number) =>
    `${(seconds[count - 1]! * 1e3).toPrecision(3)} ms on ${counted(count, 'device')}`
  const other = chosen === 1 ? seconds.length : 1
  const reason =
    chosen !== best
      ? `${counted(best, 'device')} should be faster than ${chosen}: predicted ${time(best)}, compared with ${time(chosen)}.`
      : seconds.length === 1
        ? `Predicted ${time(1)}.`
        : isFast(seconds[other - 1]!)
          ? `Predicted ${time(best)}; ${counted(other, 'device')} would not be faster.`
          : `${counted(best, 'device')} of ${seconds.length} should be fastest: predicted ${time(best)}, compared with ${time(other)}.`
  return { model, seconds, best, chosen, reason }
}
