import { expect, it } from 'vitest'
import { tensorCoreSums } from './tensor-core.ts'

/** `sum` and the products of 16 numbers with 1, as a matrix of one component. */
function sumOf(sum: number, ...numbers: readonly number[]): number {
  const left = Float64Array.from({ length: 16 }, (_, k) => numbers[k] ?? 0)
  return tensorCoreSums(1, left, new Float64Array(16).fill(1), Float64Array.of(sum))[0]!
}
const many = (x: number) => new Array<number>(16).fill(x)

it('truncates each product two bits below the last bit of the largest, and the result at its last bit', () => {
  expect(sumOf(2 ** 20, ...many(2 ** -5))).toBe(2 ** 20 + 0.5)
  expect(sumOf(2 ** 20, ...many(2 ** -5 * 1.75))).toBe(2 ** 20 + 0.5)
  expect(sumOf(2 ** 20, ...many(2 ** -6))).toBe(2 ** 20)
  expect(sumOf(-(2 ** 20), ...many(-(2 ** -5) * 1.75))).toBe(-(2 ** 20) - 0.5)
  expect(sumOf(2 ** 20, 2 ** -4, 2 ** -5)).toBe(2 ** 20)
  expect(sumOf(2 ** 20, -(2 ** -5))).toBe(2 ** 20 - 2 ** -4)
  // The sum is truncated too if a product is larger.
  expect(sumOf(2 ** -10 * 1.75, 2 ** 15, -(2 ** 15))).toBe(2 ** -10)
})

it('returns exact sums, infinities and NaN', () => {
  expect(sumOf(0)).toBe(0)
  expect(sumOf(Math.fround(0.1), 0)).toBe(Math.fround(0.1))
  expect(sumOf(3, ...many(1000))).toBe(16_003)
  expect(sumOf(2 ** -140, 2 ** -24)).toBe(2 ** -24)
  expect(sumOf(2 ** -149)).toBe(2 ** -149)
  expect(sumOf(Number.NEGATIVE_INFINITY, 1)).toBe(Number.NEGATIVE_INFINITY)
  expect(sumOf(1, Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY)
  expect(sumOf(1, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY)).toBeNaN()
  expect(sumOf(Number.NaN)).toBeNaN()
})
