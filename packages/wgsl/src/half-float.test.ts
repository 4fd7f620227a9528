import { expect, test } from 'vitest'
import { halfBits, halfValue, roundToHalf } from './half-float.ts'

/** The value of the 16 bits of an f16, computed from the definition of the format. */
function value(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 31
  const fraction = bits & 1023
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

test('every half is its own nearest, and numbers between two round to the nearer, ties to even', () => {
  for (let bits = 0; bits < 0x7c00; bits++) {
    expect(halfValue(bits)).toBe(value(bits))
    expect(halfBits(value(bits))).toBe(bits)
    expect(halfBits(-value(bits))).toBe(bits | 0x8000)
    const next = bits + 1 === 0x7c00 ? 65_536 : value(bits + 1)
    const middle = (value(bits) + next) / 2
    expect(halfBits(middle)).toBe(bits % 2 === 0 ? bits : bits + 1)
    expect(halfBits(middle * (1 - 2 ** -50))).toBe(bits)
    expect(halfBits(middle * (1 + 2 ** -50))).toBe(bits + 1)
    expect(roundToHalf(middle * (1 + 2 ** -50))).toBe(bits + 1 === 0x7c00 ? Number.POSITIVE_INFINITY : next)
  }
  expect(halfBits(Number.NaN)).toBe(0x7e00)
  expect(halfBits(-1e9)).toBe(0xfc00)
  expect(halfBits(-0)).toBe(0x8000)
})
