import { expect, it } from 'vitest'
import { shardOf } from './test-cases.ts'

it('the parts of a test contain each of its cases once', () => {
  for (const [count, n] of [
    [20_000, 96],
    [7, 3],
    [3, 7],
    [5, 1],
  ] as const) {
    const parts = Array.from({ length: n }, (_, k) => shardOf(count, `${k + 1}/${n}`))
    expect(parts.flat()).toEqual(Array.from({ length: count }, (_, i) => i))
  }
})

it.each(['', '0/2', '3/2', '1', '-1/2', '1/2/3'])('%j is not a part', (shard) => {
  expect(() => shardOf(10, shard)).toThrow(`TANDEM_SHARD is k/n with 1 ≤ k ≤ n, not '${shard}'`)
})
