import type { Device, DeviceGroup, Schedule } from '@tandem-gpu/core'

/**
 * Both schedules of the same commands, timed in one run: the blocking and the asynchronous mode of the
 * published programs.
 */
export interface ScheduleComparison {
  readonly serialSeconds: number
  readonly overlappedSeconds: number
  /** Serial time divided by overlapped time; 1 if nothing was timed. */
  readonly speedUp: number
}

/**
 * The report of every algorithm, on every backend. Each algorithm adds fields of its own. JSON-serialisable.
 */
export interface Report {
  readonly algorithm: string
  readonly backend: string
  /** Name of the adapter; several different ones are joined with ` + `. */
  readonly adapter: string
  /** True if the "GPU" is the CPU; the figures then say nothing about hardware. */
  readonly software: boolean
  readonly devices: number
  readonly deviceNames: readonly string[]
  /**
   * If the devices belong to several processes: how many, how data moves between them, and why no faster way
   * is used.
   */
  readonly processes?: {
    readonly count: number
    readonly transport: string
    readonly refused: readonly { readonly name: string; readonly reason: string }[]
  }
  readonly schedule: Schedule
  readonly shape: Readonly<Record<string, number>>
  /** False if the caller requested no check. Then `verified` is false and has no meaning. */
  readonly checked: boolean
  /** True if and only if the result was checked and is correct. */
  readonly verified: boolean
  /** The check and the allowed error, in words. */
  readonly verification: string
  /** Largest absolute difference from the reference; 0 if the check is exact and passes. */
  readonly maxError: number
  /**
   * The duration of one run of the recorded program: the median of the samples. A sort over messages has two
   * programs, and this is the duration of both.
   */
  readonly seconds: number
  readonly clock: 'device' | 'host'
  /** Bytes moved or operations done in one run: whichever limits the algorithm. */
  readonly bytes?: number
  readonly flops?: number
  /** `bytes`, `flops` or the elements divided by `seconds`, in `unit`; 0 if nothing was timed. */
  readonly rate: number
  readonly unit: 'GB/s' | 'GFLOP/s' | 'Gelements/s'
  /** Both schedules, if `compareSchedules` is true. */
  readonly comparison?: ScheduleComparison
  /** Notes for the user, such as a choice that was made, or one that would be faster. */
  readonly notes: readonly string[]
}

/** The report of algorithms whose input is a vector. */
export interface VectorReport extends Report {
  readonly type: 'f32' | 'i32' | 'u32'
  readonly shape: { readonly elements: number }
  /** The number of elements on each device. */
  readonly slices: readonly number[]
}

/** The outcome of a check against a reference. */
export interface Verification {
  readonly checked: boolean
  readonly verified: boolean
  readonly verification: string
  readonly maxError: number
}

/** The outcome of a check that ran. */
export function verdict(verified: boolean, verification: string, maxError: number): Verification {
  return { checked: true, verified, verification, maxError }
}

/** For reports without a check. */
export const notVerified: Verification = {
  checked: false,
  verified: false,
  verification: 'not checked',
  maxError: 0,
}

/** The fields that describe where something ran; `devices` are the devices of the group that were used. */
export function describeGroup(
  group: DeviceGroup,
  devices: readonly Device[] = group.devices,
): Pick<Report, 'backend' | 'adapter' | 'software' | 'devices' | 'deviceNames' | 'processes'> {
  const { rankCount: count, transport } = group
  const deviceNames = devices.map((device) => device.info.name)
  return {
    backend: group.backend,
    adapter: [...new Set(deviceNames)].join(' + '),
    software: group.software,
    devices: devices.length,
    deviceNames,
    ...(transport && { processes: { count, transport: transport.name, refused: transport.refused } }),
  }
}

/** `amount` per second in units of 1e9; 0 when the time is 0. */
export function gigaRate(amount: number, seconds: number): number {
  return seconds > 0 ? amount / seconds / 1e9 : 0
}
