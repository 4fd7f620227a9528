import type { Report } from '@tandem-gpu/algorithms'

/** One measurement. `rate` is in `unit`: bytes, operations or elements per second; higher is better. */
export interface BenchResult {
  readonly work: string
  /** `tandem` and the variant, or the name of the other library. */
  readonly variant: string
  readonly devices: number
  readonly shape: Readonly<Record<string, number | string>>
  readonly seconds: number
  readonly rate: number
  readonly unit: 'B/s' | 'FLOP/s' | 'elements/s'
  readonly verified: boolean
}

/** What `tandem bench --json` prints. */
export interface BenchDocument {
  readonly schema: 1
  readonly kind: 'bench'
  readonly date: string
  readonly commit: string
  readonly machine: Readonly<Record<string, unknown>>
  readonly ours: readonly BenchResult[]
  readonly peers: readonly BenchResult[]
  /**
   * The rates of the devices if they only copy within their own memory, all at once; absent in other tools'
   * documents.
   */
  readonly limits?: readonly BenchResult[]
}

const units = { 'GB/s': 'B/s', 'GFLOP/s': 'FLOP/s', 'Gelements/s': 'elements/s' } as const

/** `work` is named as in tools/peers; `kernel` names the variant if several compute the same. */
export function benchResult(work: string, report: Report, kernel?: string): BenchResult {
  return {
    work,
    variant: ['tandem', report.backend, report.schedule, kernel]
      .filter((part) => part !== undefined)
      .join(' '),
    devices: report.devices,
    shape: report.shape,
    seconds: report.seconds,
    rate: report.rate * 1e9,
    unit: units[report.unit],
    verified: report.verified,
  }
}
