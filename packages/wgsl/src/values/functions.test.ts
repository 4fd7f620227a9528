import { expect, test } from 'vitest'
import { componentFunction } from './functions.ts'

const fma = componentFunction('fma', 'f32') as (a: number, b: number, c: number) => number

const lowest = 2 ** -149

/** An f32 as a multiple of 2^-298, of which every product of two f32 is one too. */
const units = (x: number) => BigInt(x / lowest) << 149n

/** The f32 nearest to `exact` multiples of 2^-298, ties to even, from the definition of the format. */
function nearest(exact: bigint): number {
  const magnitude = exact < 0n ? -exact : exact
  const shift = BigInt(Math.max(149, magnitude.toString(2).length - 24))
  const rest = magnitude & ((1n << shift) - 1n)
  const half = 1n << (shift - 1n)
  const floor = magnitude >> shift
  const rounded = rest > half || (rest === half && floor % 2n === 1n) ? floor + 1n : floor
  const value = Number(rounded) * 2 ** (Number(shift) - 298)
  return (value >= 2 ** 128 ? Number.POSITIVE_INFINITY : value) * (exact < 0n ? -1 : 1)
}

const exact = (a: number, b: number, c: number) => BigInt(a / lowest) * BigInt(b / lowest) + units(c)

test('fma of f32 is rounded once', () => {
  // The product is 2^-24 - 2^-70; rounded to f64, the sum is halfway between 1 + 2^-23 and 1 + 2^-22.
  expect(fma(1 + 2 ** -23, 2 ** -24 - 2 ** -47, 1 + 2 ** -23)).toBe(1 + 2 ** -23)
  let state = 1
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state
  }
  const float = () => {
    const significand = (next() & 1) === 0 ? 2 ** 23 + (next() >>> 9) : 2 ** (next() >>> 28) + (next() >>> 31)
    return (next() & 1 ? -1 : 1) * significand * 2 ** ((next() >>> 26) - 55)
  }
  let halfway = 0
  for (let i = 0; i < 200_000; i++) {
    const a = float()
    const b = float()
    const c = (i & 1) === 0 ? float() : Math.fround(a * b * 2 ** ((next() >>> 27) - 16))
    const expected = nearest(exact(a, b, c))
    if (fma(a, b, c) !== expected) expect({ a, b, c, fma: fma(a, b, c) }).toEqual({ a, b, c, fma: expected })
    if (Math.fround(a * b + c) !== expected) halfway++
  }
  expect(halfway).toBeGreaterThan(0)
})

test('fma of f32 is rounded once at both ends of the range', () => {
  const largest = 2 ** 128 - 2 ** 104
  // From largest + 2^103 on a sum rounds to infinity; this product is 2^103 - 2^57.
  expect(fma(1 + 2 ** -23, 2 ** 103 - 2 ** 80, largest)).toBe(largest)
  for (const [a, b, c] of [
    [1, 2 ** 103, largest],
    [1, 2 ** 103, -largest],
    [1 - 2 ** -24, -(2 ** 103), -largest],
    [1 + 2 ** -23, -(2 ** 103), -largest],
    [lowest, 0.5, lowest],
    [lowest, 0.5, 0],
    [lowest * 3, 0.5, 0],
    [2 ** -100, 2 ** -50, 2 ** -126],
    [-(2 ** -100), 2 ** -50, 2 ** -126],
    [1 + 2 ** -23, 2 ** -150 * 2 ** 24, -(2 ** -126)],
  ] as const)
    expect(fma(a, b, c)).toBe(nearest(exact(a, b, c)))
  expect(fma(-1, 0, 0)).toBe(0)
  expect(fma(-1, 0, -0)).toBe(-0)
  expect(fma(Number.POSITIVE_INFINITY, 1, 1)).toBe(Number.POSITIVE_INFINITY)
  expect(fma(Number.POSITIVE_INFINITY, 0, 1)).toBeNaN()
})
