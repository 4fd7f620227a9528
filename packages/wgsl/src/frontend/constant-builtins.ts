import type { BuiltinFunction, ValueFunction } from '../builtin-functions.ts'
import { halfBits, halfValue } from '../half-float.ts'
import type { Type } from '../ir.ts'
import { clampTo, componentFunction, wholeFunction } from '../values/functions.ts'
import { mapComponents } from '../values/operators.ts'
import { constantRounding, scalarOperator as op } from './constant-operators.ts'
import { ConstantError, roundFloat, type Value } from './constant-value.ts'
import { type AnyScalar, scalarOf } from './numeric-types.ts'

/** Evaluates a built-in function on constants. */
export function evaluateBuiltin(name: ValueFunction, args: readonly Value[], types: readonly Type[]): Value {
  const kind = scalarOf(types[0]!)!
  const scalar = componentRules[name]
  if (scalar !== undefined) return mapComponents((...x: never[]) => scalar(kind, ...x), ...args)
  const whole = wholeRules[name]
  if (whole !== undefined) return whole(kind, ...(args as never[]))
  const round = constantRounding(kind)
  const component = componentFunction(name, kind, round)
  if (component !== undefined) return mapComponents<Value>(component, ...args)
  return wholeFunction(name, kind, round)(...(args as never[]))
}

type Rules = Readonly<Partial<Record<ValueFunction, (kind: AnyScalar, ...args: never[]) => Value>>>

/**
 * Component-wise functions with different rules for constants: numbers are bigints, zeros have no sign, or
 * several steps are rounded together.
 */
const componentRules: Rules = {
  abs: (kind, x: number | bigint) => {
    if (typeof x === 'bigint') return x < 0n ? BigInt.asIntN(64, -x) : x
    return kind === 'i32' ? Math.abs(x) | 0 : Math.abs(x)
  },
  clamp: (_, x: number, low: number, high: number) => (x < low ? low : x > high ? high : x),
  max: (_, a: number, b: number) => (a < b ? b : a),
  min: (_, a: number, b: number) => (b < a ? b : a),
  pow: (kind, a: number, b: number) => roundFloat(a < 0 || (a === 0 && b === 0) ? Number.NaN : a ** b, kind),
  quantizeToF16: (_, x: number) => roundFloat(x, 'f16'),
  sign: (_, x: number | bigint) => (typeof x === 'bigint' ? (x > 0n ? 1n : x < 0n ? -1n : 0n) : Math.sign(x)),
  smoothstep: (kind, low: number, high: number, x: number) => {
    const ratio = op('/', kind, op('-', kind, x, low), op('-', kind, high, low))
    const t = clampTo(ratio as number, 0, 1)
    return roundFloat(t * t * (3 - 2 * t), kind)
  },
}

/** Functions of whole vectors or matrices with different rules for constants. */
const wholeRules: Rules = {
  determinant: (kind, m: readonly (readonly number[])[]) => determinantOf(m, kind),
  frexp: (kind, x: never) => {
    const [fract, exponent] = wholeFunction('frexp', kind)(x) as [Value, Value]
    return [fract, kind === 'abstract-float' ? mapComponents<Value>(BigInt, exponent) : exponent]
  },
  normalize: (kind, v: readonly number[]) => {
    const square = v.map((x) => op('*', kind, x, x)).reduce((sum, x) => op('+', kind, sum, x))
    const length = Math.sqrt(square as number)
    if (length === 0) throw new ConstantError('a vector of length 0 cannot be normalized')
    return v.map((x) => roundFloat(x * (1 / length), kind))
  },
  pack2x16float: (_, [low, high]: readonly [number, number]) => {
    const half = (x: number) => halfBits(roundFloat(x, 'f16'))
    return (half(low) | (half(high) << 16)) >>> 0
  },
  unpack2x16float: (_, word: number) =>
    [word & 0xffff, word >>> 16].map((half) => roundFloat(halfValue(half), 'f32')),
}

function determinantOf(m: readonly (readonly number[])[], kind: AnyScalar): number {
  if (m.length === 1) return m[0]![0]!
  let sum: Value | undefined
  for (const [c, column] of m.entries()) {
    const minor = m.filter((_, i) => i !== c).map((other) => other.slice(1))
    const product = op('*', kind, column[0]!, determinantOf(minor, kind))
    sum = sum === undefined ? product : op(c % 2 === 0 ? '+' : '-', kind, sum, product)
  }
  return sum as number
}

/** Performs the checks that apply if only some arguments are constant; the others are `undefined`. */
export function checkPartialArguments(
  name: BuiltinFunction,
  args: readonly (Value | undefined)[],
  types: readonly Type[],
): void {
  const numbers = (v: Value | undefined): number[] => (v === undefined ? [] : [v].flat().map(Number))
  const kind = types[0] && scalarOf(types[0])
  if (name === 'extractBits' || name === 'insertBits') {
    const [offset, count] = args.slice(-2)
    if (offset === undefined || count === undefined) return
    const sum = Number(offset) + Number(count)
    if (sum > 32) throw new ConstantError(`${name}: offset + count is ${sum}, above 32`)
  } else if (name === 'clamp') {
    const highs = numbers(args[2])
    const lows = numbers(args[1])
    const bad = lows.findIndex((v, i) => v > highs[i]!)
    if (bad >= 0)
      throw new ConstantError(`clamp: the low bound ${lows[bad]} is above the high bound ${highs[bad]}`)
  } else if (name === 'smoothstep') {
    const highs = numbers(args[1])
    const bad = numbers(args[0]).find((v, i) => v === highs[i])
    if (bad !== undefined) throw new ConstantError(`smoothstep: both edges are ${bad}`)
  } else if (name === 'ldexp') {
    const limit = kind === 'f16' ? 16 : kind === 'f32' ? 128 : 1024
    const bad = numbers(args[1]).find((e) => e > limit)
    if (bad !== undefined) throw new ConstantError(`ldexp: the exponent ${bad} is above ${limit}`)
  }
}
