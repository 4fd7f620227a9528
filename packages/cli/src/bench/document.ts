import type { Report } from '@tandem-gpu/algorithms'

/** One measurement. `rate` is in `unit`, bytes or operations a second: higher is better. */
export interface BenchResult {
  readonly work: string
  /** Who: `tandem` and the variant, or the peer's name. */
  readonly variant: string
  readonly devices: number
  readonly shape: Readonly<Record<string, number | string>>
  readonly seconds: number
  readonly rate: number
  readonly unit: 'B/s' | 'FLOP/s'
  readonly verified: boolean
}

/** What `tandem bench --json` prints and tools/bench-compare reads. */
export interface BenchDocument {
  readonly schema: 1
  readonly kind: 'bench'
  readonly date: string
  readonly commit: string
  readonly machine: Readonly<Record<string, unknown>>
  readonly ours: readonly BenchResult[]
  readonly peers: readonly BenchResult[]
}

/** Names of the work, as tools/peers has them. */
const workOf: Readonly<Record<string, string>> = { reduce: 'sum', matmul: 'gemm' }

/** `schedule` names the variant where several are compared. */
export function benchResult(report: Report, schedule?: string): BenchResult {
  return {
    work: workOf[report.algorithm] ?? report.algorithm,
    variant: ['tandem', report.backend, schedule].filter((part) => part !== undefined).join(' '),
    devices: report.devices,
    shape: report.shape,
    seconds: report.seconds,
    rate: report.rate * 1e9,
    unit: report.unit === 'GB/s' ? 'B/s' : 'FLOP/s',
    verified: report.verified,
  }
}
