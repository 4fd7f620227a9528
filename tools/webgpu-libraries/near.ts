import { expect } from 'vitest'
import { backendName } from './backend.ts'

/** The error that WGSL allows for sines and cosines: Dawn uses those of the driver. */
const leastTolerance = backendName === 'dawn' ? 2 ** -10 : 0

/** Each element within `tolerance`, relative to values above 1. */
export function expectNear(actual: ArrayLike<number>, expected: readonly number[], tolerance = 1e-5): void {
  expect(actual.length).toBe(expected.length)
  for (const [i, value] of expected.entries()) {
    const bound = Math.max(tolerance, leastTolerance) * Math.max(1, Math.abs(value))
    // Negated, because comparisons with NaN are false.
    if (!(Math.abs(actual[i]! - value) <= bound)) expect.fail(`element ${i} is ${actual[i]}, not ${value}`)
  }
}
