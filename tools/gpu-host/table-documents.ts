import type { BenchDocument, BenchResult } from '../../packages/cli/src/bench/document.ts'
import type { HostCost } from './host-cost.ts'
import type { RingCost, RunCost } from './rank-rows.ts'

/** Sizes by name, as results give them. */
export type Shape = Readonly<Record<string, number>>

export const square = (side: number) => ({ rows: side, columns: side })
export const cube = (side: number) => ({ m: side, n: side, k: side })

/** Products with few rows or columns, both ways. */
export const narrowShapes = [64, 128, 256, 512].flatMap((size) => [
  { m: size, n: 8192, k: 8192 },
  { m: 8192, n: size, k: 8192 },
])

/** What table.ts writes. */
export interface BenchTable extends BenchDocument {
  readonly host?: HostCost
}

/** One measurement, with what was checked. */
export interface TensorResult extends BenchResult {
  readonly verification?: string
}

/** One line of tools/gpu-host/product-errors.py. */
export interface ProductErrors {
  readonly input: string
  readonly k: number
  readonly window: number
  readonly rms: Readonly<Record<string, number>>
  readonly largest: Readonly<Record<string, number>>
  readonly sameInfNaN: boolean
}

/** What table.ts writes with rows of tensor-rows.ts. */
export interface TensorDocument extends Omit<BenchDocument, 'kind'> {
  readonly kind: 'tensor'
  readonly ours: readonly TensorResult[]
  readonly errors?: readonly ProductErrors[]
}

/** Seconds of one piece of work (of Jacobi: of a sweep) in one way: `one` process, a transport between processes, or a sample of NVIDIA's. */
export interface RankResult {
  readonly work: string
  readonly size: number
  readonly way: string
  /** The median over the rounds. */
  readonly seconds: number
  readonly rounds: readonly number[]
}

/** What table.ts writes with --ways. */
export interface RankTable {
  readonly schema: 1
  readonly kind: 'ranks'
  readonly date: string
  readonly commit: string
  readonly machine: Readonly<Record<string, unknown>>
  /** Processes, each with one GPU. */
  readonly ranks: number
  readonly results: readonly RankResult[]
  /** One for each round. */
  readonly rings: readonly { readonly way: string; readonly cost: RingCost }[]
  readonly runs: readonly { readonly way: string; readonly cost: RunCost }[]
  readonly failures: readonly string[]
}

/** The measurement of a work whose variant is `variant` or, where that begins with a blank, ends so; of a shape that has these sizes. */
export function findResult(
  results: readonly BenchResult[],
  work: string,
  variant: string,
  shape: Shape,
  devices = 1,
): BenchResult | undefined {
  return results.find(
    (result) =>
      result.work === work &&
      result.devices === devices &&
      (variant.startsWith(' ') ? result.variant.endsWith(variant) : result.variant === variant) &&
      Object.entries(shape).every(([name, value]) => result.shape[name] === value),
  )
}

/** The middle of what was measured, of two the mean. */
export function middle(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted.length === 0
    ? undefined
    : (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2
}
