import type { RingCost, RunCost } from './rank-rows.ts'
import type { Target } from './targets.ts'

/** Seconds of one piece of work (of Jacobi: of a sweep) in one way: `one` process, a transport between processes, or a sample of NVIDIA's. */
export interface RankResult {
  readonly work: string
  readonly size: number
  readonly way: string
  /** The median over the rounds. */
  readonly seconds: number
  readonly rounds: readonly number[]
}

export interface MeasuredRanks {
  /** Processes, each with one GPU. */
  readonly ranks: number
  readonly results: readonly RankResult[]
  /** One for each round. */
  readonly rings: readonly { readonly way: string; readonly cost: RingCost }[]
  readonly runs: readonly { readonly way: string; readonly cost: RunCost }[]
}

/** What rank-table.ts writes. */
export interface RankTable extends MeasuredRanks {
  readonly schema: 1
  readonly kind: 'ranks'
  readonly date: string
  readonly commit: string
  readonly machine: Readonly<Record<string, unknown>>
  readonly failures: readonly string[]
  readonly targets: readonly RankTarget[]
}

/** The number of ranks that the targets are for. */
export const ranksOfTargets = 4

/** A target beside what was measured; `met` is missing where another number of ranks was measured than the target is for. */
export interface RankTarget extends Omit<Target, 'met'> {
  readonly met?: boolean
}

/** A row of the table: what one process takes is the measure unless there is a bound in seconds. */
interface Row {
  readonly title: string
  readonly work: string
  readonly size: number
  readonly ipc: number
  readonly nccl: number
  readonly unit: '× one process' | 'µs'
}

export const rankRows: readonly Row[] = [
  { title: 'Jacobi 16384²', work: 'jacobi', size: 16384, ipc: 1.05, nccl: 1.15, unit: '× one process' },
  { title: 'Jacobi 2048²', work: 'jacobi', size: 2048, ipc: 6.5, nccl: 8, unit: 'µs' },
  { title: 'transpose 32768²', work: 'transpose', size: 32768, ipc: 1.1, nccl: 1.35, unit: '× one process' },
  { title: 'transpose 2048²', work: 'transpose', size: 2048, ipc: 16, nccl: 45, unit: 'µs' },
  { title: 'sum of 2^31', work: 'sum', size: 2 ** 31, ipc: 1.05, nccl: 1.1, unit: '× one process' },
  {
    title: 'resident product 32768³',
    work: 'gemm-resident',
    size: 32768,
    ipc: 1.05,
    nccl: 1.1,
    unit: '× one process',
  },
  {
    title: 'streamed product 16384³',
    work: 'gemm-streamed',
    size: 16384,
    ipc: 1.05,
    nccl: 1.1,
    unit: '× one process',
  },
]

/** Every target that `measured` has figures for. */
export function rankTargetsOf(measured: MeasuredRanks): RankTarget[] {
  const targets = targetsWithFigures(measured)
  return measured.ranks === ranksOfTargets ? targets : targets.map(({ met: _, ...figure }) => figure)
}

function targetsWithFigures(measured: MeasuredRanks): Target[] {
  const { results } = measured
  const targets: Target[] = []
  const secondsOf = (work: string, size: number, way: string) =>
    results.find((r) => r.work === work && r.size === size && r.way === way)?.seconds
  for (const { title, work, size, unit, ...bounds } of rankRows)
    for (const way of ['ipc', 'nccl'] as const) {
      const seconds = secondsOf(work, size, way)
      const one = secondsOf(work, size, 'one')
      const bound = bounds[way]
      if (seconds === undefined || (unit !== 'µs' && one === undefined)) continue
      const value = unit === 'µs' ? 1e6 * seconds : seconds / one!
      const digits = unit === 'µs' ? 1 : 3
      targets.push({
        row: `${title}, \`${way}\``,
        target: `≤ ${bound} ${unit}`,
        measured: value.toFixed(digits),
        met: value <= bound,
      })
    }
  /** Against a sample of NVIDIA's, at least so many times as fast. */
  const against = (way: string, sample: string, size: number, bound: number) => {
    const ours = secondsOf('jacobi', size, way)
    const theirs = secondsOf('jacobi', size, `NVIDIA ${sample}`)
    if (ours === undefined || theirs === undefined) return
    targets.push({
      row: `Jacobi ${size}², \`${way}\``,
      target: bound === 1 ? `quicker than NVIDIA’s \`${sample}\`` : `≥ ${bound} × NVIDIA’s \`${sample}\``,
      measured: `${(theirs / ours).toFixed(2)} ×`,
      met: theirs / ours >= bound,
    })
  }
  against('nccl', 'nccl_graphs', 16384, 4.8)
  for (const size of [2048, 16384]) against('gpu-aware', 'mpi', size, 1)
  for (const way of ['ipc', 'nccl']) {
    const hidden = middle(measured.rings.filter((r) => r.way === way).map((r) => r.cost.hidden))
    const side = measured.rings[0]?.cost.side
    if (hidden !== undefined)
      targets.push({
        row: `ring product ${side}³ with messages between devices, \`${way}\``,
        target: 'hides ≥ 0.9 of the messages',
        measured: hidden.toFixed(2),
        met: hidden >= 0.9,
      })
    for (const program of new Set(measured.runs.map((r) => r.cost.program))) {
      const costs = measured.runs.filter((r) => r.way === way && r.cost.program === program)
      const seconds = middle(costs.map((r) => r.cost.seconds))
      const added = middle(costs.map((r) => r.cost.added))
      if (seconds === undefined || added === undefined) continue
      const long = seconds >= 0.02
      targets.push({
        row: `run(program, 1000), ${program}, ${(1e3 * seconds).toFixed(1)} ms, \`${way}\``,
        target: long ? 'adds ≤ 2 %' : 'adds ≤ 150 µs',
        measured: long ? `${((100 * added) / seconds).toFixed(2)} %` : `${(1e6 * added).toFixed(0)} µs`,
        met: long ? added <= 0.02 * seconds : added <= 150e-6,
      })
    }
  }
  return targets
}

function middle(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted.length === 0
    ? undefined
    : (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2
}
