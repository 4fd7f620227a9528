import type { Report, TuningOptions } from '@tandem-gpu/algorithms'
import type { DeviceGroup, Schedule } from '@tandem-gpu/core'
import { type BenchResult, benchResult } from './document.ts'

export interface CaseSettings extends TuningOptions {
  readonly schedule: Schedule
  readonly verify: boolean
  readonly signal: AbortSignal
  readonly warmup: number
  readonly samples: number
  readonly seed: number
}

/** One measurement on the devices of a group. */
export type BenchCase = (group: DeviceGroup, settings: CaseSettings) => Promise<BenchResult>

/** `small` suits a software GPU; `large` needs tens of GiB of device and host memory. */
export const sizeSetNames = ['small', 'medium', 'large'] as const
export type SizeSetName = (typeof sizeSetNames)[number]

/** The measurements of one kind of work. */
export type BenchWork = (set: SizeSetName) => readonly BenchCase[]

/**
 * One case per size. `work` is named as in tools/peers; `kernel` names the variant if several compute the
 * same.
 */
export function benchWork<Size>(
  work: string,
  sizes: Readonly<Record<SizeSetName, readonly Size[]>>,
  run: (group: DeviceGroup, settings: CaseSettings, size: Size) => Promise<Report>,
  kernel?: (size: Size) => string,
): BenchWork {
  return (set) =>
    sizes[set].map((size) => async (group, settings) => {
      return benchResult(work, await run(group, settings, size), kernel?.(size))
    })
}

/** Numbers of elements of scans, histograms and sorts. */
export const vectorLengths = {
  small: [2 ** 14, 2 ** 16],
  medium: [2 ** 20, 2 ** 22, 2 ** 24],
  large: [2 ** 22, 2 ** 28],
}
