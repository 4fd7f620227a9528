import type {} from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** The number of cases that a test ran. */
    cases?: number
  }
}

/** Whether to run the long forms of the tests. */
export const isLong = process.env.TANDEM_LONG === '1'

/**
 * The numbers of the cases that a test runs: `short` of them, or `long` of them with TANDEM_LONG=1.
 * TANDEM_SHARD=k/n selects the k-th of n parts, which together contain all cases.
 */
export function testCases(short: number, long: number): number[] {
  return shardOf(isLong ? long : short, process.env.TANDEM_SHARD ?? '1/1')
}

/** The k-th of n consecutive parts of the numbers below `count`, for `shard` = `k/n`. */
export function shardOf(count: number, shard: string): number[] {
  const [, k, n] = /^(\d+)\/(\d+)$/.exec(shard)?.map(Number) ?? []
  if (k === undefined || n === undefined || k < 1 || k > n)
    throw new Error(`TANDEM_SHARD is k/n with 1 ≤ k ≤ n, not '${shard}'`)
  const from = Math.floor(((k - 1) * count) / n)
  const to = Math.floor((k * count) / n)
  return Array.from({ length: to - from }, (_, i) => from + i)
}
