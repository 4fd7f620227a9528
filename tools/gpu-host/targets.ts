import type { BenchResult } from '../../packages/cli/src/bench/document.ts'
import type { HostCost } from './host-cost.ts'

/** One line of the table of targets. */
export interface Target {
  readonly row: string
  readonly target: string
  readonly measured: string
  readonly met: boolean
}

/** Sizes by name, as results give them. */
export type Shape = Readonly<Record<string, number>>

interface Measured {
  readonly host?: HostCost
  readonly ours: readonly BenchResult[]
  readonly peers: readonly BenchResult[]
}

/** Bytes a second that NVLink carries from one H200 to another while nothing goes the other way; a quarter of 3/4 of a matrix arrives at each of 4. */
const nvlinkOneWay = 392e9

/**
 * NVIDIA's multi-gpu-programming-models samples (multi_threaded_p2p, single GPU) on the same kind of machine, residual every 100
 * iterations, 2026-11-20: seconds an iteration by [side, devices]. Their code is not part of this repository, so they are quoted.
 */
const nvidiaJacobi: Readonly<Record<string, number>> = {
  '16384 1': 1.19e-3,
  '16384 4': 0.306e-3,
  '2048 4': 13.6e-6,
  '4096 4': 20.5e-6,
  '8192 4': 81.6e-6,
  '32768 4': 1205e-6,
}

/** The rows of the table, from the results of a document. */
class TargetTable {
  readonly rows: Target[] = []
  readonly #measured: Measured

  constructor(measured: Measured) {
    this.#measured = measured
  }

  /** Ours of a work: the overlapped variant on CUDA, or the one that ends so. */
  mine(work: string, devices: number, shape: Shape, variant?: string): BenchResult | undefined {
    return this.#measured.ours.find(
      (result) =>
        isOf(result, work, devices, shape) &&
        (variant === undefined
          ? result.variant === 'tandem cuda overlapped'
          : result.variant.startsWith('tandem cuda') && result.variant.endsWith(variant)),
    )
  }

  theirs(work: string, devices: number, shape: Shape): BenchResult | undefined {
    return this.#measured.peers.find((result) => isOf(result, work, devices, shape))
  }

  /** A row on results of ours, of which one that no check stands behind is named. */
  push(target: Target, ...of: readonly (BenchResult | undefined)[]): void {
    const { ours } = this.#measured
    const verified = of.every((result) => !ours.includes(result!) || result!.verified)
    const measured = verified ? target.measured : `${target.measured} (not verified in this run)`
    this.rows.push({ ...target, measured })
  }

  atLeast(
    row: string,
    value: number,
    bound: number,
    what: string,
    ...of: readonly (BenchResult | undefined)[]
  ): void {
    if (Number.isNaN(value)) return
    this.push({ row, target: `≥ ${bound} ${what}`, measured: value.toFixed(3), met: value >= bound }, ...of)
  }

  atMost(row: string, result: BenchResult | undefined, bound: number): void {
    if (result !== undefined) this.push(secondsTarget(row, result.seconds, bound), result)
  }

  /** The rate of one result by that of another, divided by `parts`. */
  ratio(
    row: string,
    [one, other]: readonly [BenchResult | undefined, BenchResult | undefined],
    bound: number,
    what: string,
    parts = 1,
  ): void {
    if (one && other) this.atLeast(row, one.rate / other.rate / parts, bound, what, one, other)
  }
}

/** What was aimed at, against what a document holds; rows that were not measured are absent. */
export function targetsOf(measured: Measured): Target[] {
  const table = new TargetTable(measured)
  const copy = table.theirs('copy', 1, {})
  transposeTargets(table, copy)
  sumTargets(table, copy)
  productTargets(table, measured.peers)
  jacobiTargets(table)
  if (measured.host !== undefined) hostTargets(table, measured.host)
  return table.rows
}

const square = (side: number): Shape => ({ rows: side, columns: side })
export const cube = (side: number) => ({ m: side, n: side, k: side })

function transposeTargets(table: TargetTable, copy: BenchResult | undefined): void {
  const both = (devices: number, side: number) =>
    [
      table.mine('transpose', devices, square(side)),
      table.theirs('transpose', devices, square(side)),
    ] as const
  const one = both(1, 16384)
  table.ratio('transpose 16384², 1 GPU', [one[0], copy], 0.9, 'of the device copy')
  table.ratio('transpose 16384², 1 GPU', one, 1, '× PyTorch')
  const large = both(4, 32768)
  table.atMost('transpose 32768², 4 GPUs', large[0], 2.28e-3)
  if (large[0])
    table.atLeast(
      'transpose 32768², 4 GPUs',
      ((3 / 16) * 32768 ** 2 * 4) / nvlinkOneWay / large[0].seconds,
      0.9,
      'of the NVLink bound',
      large[0],
    )
  table.ratio('transpose 32768², 4 GPUs', large, 1.8, '× PyTorch P2P')
  const small = both(4, 2048)
  table.atMost('transpose 2048², 4 GPUs', small[0], 30e-6)
  table.ratio('transpose 2048², 4 GPUs', small, 16, '× PyTorch P2P')
  for (const [devices, side, bound] of [
    [2, 2048, 1.81],
    [2, 32768, 1.81],
    [4, 32768, 4],
  ] as const)
    for (const [transport, name] of [
      ['copy', 'tiles copied'],
      ['scatter', 'peers written'],
    ] as const) {
      const of = (schedule: string) =>
        table.mine('transpose', devices, square(side), `${schedule} ${transport}`)
      const row = `overlapped / serial, ${side}², ${devices} GPUs, ${name}`
      table.ratio(row, [of('overlapped'), of('serial')], bound, '×')
    }
}

function sumTargets(table: TargetTable, copy: BenchResult | undefined): void {
  const both = (elements: number) =>
    [table.mine('sum', 4, { elements }), table.theirs('sum', 4, { elements })] as const
  const big = both(2 ** 31)
  table.ratio('sum f32 2^31, 4 GPUs', [big[0], copy], 0.95, 'of 4 × the copy rate', 4)
  table.ratio('sum f32 2^31, 4 GPUs', big, 1, '× PyTorch')
  const small = both(2 ** 22)
  table.atMost('sum f32 2^22, 4 GPUs', small[0], 25e-6)
  table.ratio('sum f32 2^22, 4 GPUs', small, 3.5, '× PyTorch')
}

function productTargets(table: TargetTable, peers: readonly BenchResult[]): void {
  for (const peer of peers.filter((r) => r.work === 'gemm' && r.variant === 'cuBLAS')) {
    const { m, n, k } = peer.shape as { m: number; n: number; k: number }
    if (m === n && m === 2048) continue
    const bound = m === n && m >= 4096 ? 0.97 : 0.85
    const row = `SGEMM ${m} × ${n} × ${k}, 1 GPU`
    table.ratio(row, [table.mine('gemm', 1, { m, n, k }), peer], bound, '× cuBLAS')
  }
  const resident = (devices: number) => table.mine('gemm', devices, cube(32768), 'resident')
  for (const devices of [4, 8]) {
    const row = `SGEMM 32768 resident, ${devices} GPUs`
    table.ratio(row, [resident(devices), resident(1)], 0.95, 'parallel efficiency', devices)
  }
  for (const [side, bound] of [
    [8192, 2.5],
    [16384, 1.5],
    [32768, 1.05],
  ] as const) {
    const streamed = ['gemm-streamed', 4, cube(side)] as const
    const row = `SGEMM ${side} streamed, 4 GPUs`
    table.ratio(row, [table.mine(...streamed), table.theirs(...streamed)], bound, '× cuBLASXt')
  }
}

function jacobiTargets(table: TargetTable): void {
  const sweepOf = (devices: number, side: number, variant?: string) =>
    table.mine('jacobi', devices, square(side), variant)
  const againstNvidia = (row: string, devices: number, side: number, bound: number) => {
    const sweep = sweepOf(devices, side)
    if (sweep)
      table.atLeast(
        row,
        nvidiaJacobi[`${side} ${devices}`]! / sweep.seconds,
        bound,
        '× NVIDIA’s sample (quoted)',
        sweep,
      )
  }
  for (const devices of [1, 4]) againstNvidia(`Jacobi 16384², ${devices} GPU`, devices, 16384, 2.1)
  const [one, eight, plain] = [sweepOf(1, 16384), sweepOf(8, 16384), sweepOf(1, 16384, 'one sweep a pass')]
  if (one && eight) {
    const efficiency = one.seconds / eight.seconds / 8
    table.atLeast('Jacobi 16384², 8 GPUs', efficiency, 0.85, 'parallel efficiency', one, eight)
  }
  if (one && plain) {
    const value = one.seconds / plain.seconds
    const row = 'Jacobi 16384², 1 GPU, four sweeps a pass'
    const target = '≤ 0.7 of one sweep a pass'
    table.push({ row, target, measured: value.toFixed(3), met: value <= 0.7 }, one, plain)
  }
  table.atMost('Jacobi 2048², 4 GPUs, an iteration', sweepOf(4, 2048), 10e-6)
  for (const side of [4096, 8192, 32768]) againstNvidia(`Jacobi ${side}², 4 GPUs`, 4, side, 1)
}

function hostTargets(table: TargetTable, host: HostCost): void {
  const { devices, firstOpenSeconds, contextSeconds, recordSeconds } = host
  const added = host.runHostSeconds / host.runDeviceSeconds - 1
  table.push({
    row: `run(program, 1000), ${devices} GPUs`,
    target: 'adds ≤ 2 %',
    measured: `${(100 * added).toFixed(2)} %`,
    met: added <= 0.02,
  })
  table.push(secondsTarget(`recording a transpose, ${devices} GPUs`, recordSeconds, 2e-3))
  if (firstOpenSeconds !== undefined && contextSeconds !== undefined)
    table.push({
      row: `openGroup, ${devices} GPUs, above a C program that opens the contexts (${contextSeconds.toFixed(2)} s)`,
      target: '≤ 0.3 s',
      measured: `${(firstOpenSeconds - contextSeconds).toFixed(2)} s`,
      met: firstOpenSeconds - contextSeconds <= 0.3,
    })
}

/** Whether a result is of this work on so many devices, and of a shape that has these sizes. */
export function isOf(result: BenchResult, work: string, devices: number, shape: Shape): boolean {
  return (
    result.work === work &&
    result.devices === devices &&
    Object.entries(shape).every(([name, value]) => result.shape[name] === value)
  )
}

function secondsTarget(row: string, seconds: number, bound: number): Target {
  const [target, measured] = [`≤ ${microseconds(bound)}`, microseconds(seconds)]
  return { row, target, measured, met: seconds <= bound }
}

function microseconds(seconds: number): string {
  return seconds < 1e-3 ? `${(1e6 * seconds).toFixed(1)} µs` : `${(1e3 * seconds).toFixed(3)} ms`
}
