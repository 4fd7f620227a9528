import type { Type } from '../ir.ts'
import { i32Type, u32Type } from '../types.ts'
import { ConstantError, convertFloat } from './constant-value.ts'
import { type AnyScalar, abstractFloat, abstractInt, anyScalar } from './numeric-types.ts'

/** The type and exact value of a numeric literal; the value of a float is rounded to f64. */
export function parseNumber(text: string): [Type, number | bigint] {
  const hex = /^0[xX]/.test(text)
  if ((hex ? /[.pP]/ : /[.eEfh]/).test(text)) {
    const suffix = /[fh]$/.exec(text)?.[0]
    return [
      suffix === 'f' ? anyScalar('f32') : suffix === 'h' ? anyScalar('f16') : abstractFloat,
      hex ? parseHexFloat(text) : Number(text.replace(/[fh]$/, '')),
    ]
  }
  const suffix = /[iu]$/.exec(text)?.[0]
  const type = suffix === 'i' ? i32Type : suffix === 'u' ? u32Type : abstractInt
  return [type, BigInt(text.replace(/[iu]$/, ''))]
}

function parseHexFloat(text: string): number {
  const pattern = /^0[xX]([\da-fA-F]*)\.?([\da-fA-F]*)(?:[pP]([+-]?\d+))?[fh]?$/
  const [, whole = '', fraction = '', exponent = '0'] = pattern.exec(text)!
  // As many digits as matter, then one that tells whether any other is not zero: all of them may exceed f64.
  const [, first = '', rest = ''] = /^0*(.{0,32})(.*)$/.exec(whole + fraction)!
  const digits = BigInt(`0x${first}${/[^0]/.test(rest) ? 1 : 0}`)
  // Zero times a power that overflows would be NaN.
  if (digits === 0n) return 0
  const power = Number(exponent) + 4 * (rest.length - 1 - fraction.length)
  // Scale in two steps, so that neither power overflows by itself.
  const half = Math.trunc(power / 2)
  return Number(digits) * 2 ** half * 2 ** (power - half)
}

/** Rounds a decimal float; a hexadecimal float must be exact. */
export function roundLiteral(text: string, value: number, kind: AnyScalar): number {
  const rounded = convertFloat(value, kind)
  if (/^0[xX]/.test(text) && rounded !== value) {
    throw new ConstantError(`${text} cannot be represented exactly as ${kind}`)
  }
  return rounded
}
