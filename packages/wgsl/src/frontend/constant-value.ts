import { roundToHalf } from '../half-float.ts'
import type { Construct, Expression, Location, ScalarType, StructType, Type } from '../ir.ts'
import { typeProperty } from '../type-property.ts'
import { elementCount, typeName } from '../types.ts'
import { clampTo } from '../values/functions.ts'
import { convertScalar as convertConcrete, mapComponents } from '../values/operators.ts'
import { declarationOf, declare } from './constant-declarations.ts'
import { type AnyScalar, scalarOf } from './numeric-types.ts'
import { elementType } from './type-structure.ts'

/**
 * A constant: bigint for abstract-int, number or boolean for other scalars, a list of components, columns,
 * elements or members. The list is empty if all elements of an array are zero.
 */
export type Value = bigint | number | boolean | readonly Value[]

/** The error for a constant expression without a value; the caller adds the position. */
export class ConstantError extends Error {}

/** Rounds a float to its kind; throws if it is not finite. */
export function roundFloat(x: number, kind: AnyScalar): number {
  const rounded = kind === 'f32' ? Math.fround(x) : kind === 'f16' ? roundToHalf(x) : x
  // Dawn computes f16 in f32, and rejects values above the largest f16 even if they would round to it.
  if (!Number.isFinite(rounded) || (kind === 'f16' && Math.abs(Math.fround(x)) > 65504)) {
    throw new ConstantError(`the value ${x} cannot be represented as ${kind}`)
  }
  return rounded
}

/** Converts a float to another kind; values above the largest are errors even if they would round to it. */
export function convertFloat(x: number, kind: AnyScalar): number {
  const largest = kind === 'f32' ? 3.4028234663852886e38 : kind === 'f16' ? 65504 : Number.MAX_VALUE
  if (!(Math.abs(x) <= largest)) throw new ConstantError(`the value ${x} cannot be represented as ${kind}`)
  return roundFloat(x, kind)
}

/** A scalar of a float kind. */
export function isFloatKind(kind: AnyScalar): boolean {
  return kind === 'f32' || kind === 'f16' || kind === 'abstract-float'
}

/** Checks that an integer fits its kind. */
export function checkInteger(value: bigint, kind: AnyScalar): Value {
  const [low, high] =
    kind === 'i32'
      ? [-(2n ** 31n), 2n ** 31n - 1n]
      : kind === 'u32'
        ? [0n, 2n ** 32n - 1n]
        : [-(2n ** 63n), 2n ** 63n - 1n]
  if (value < low || value > high)
    throw new ConstantError(`the value ${value} cannot be represented as ${kind}`)
  return kind === 'abstract-int' ? value : Number(value)
}

/** Converts a scalar. The conversion must be feasible, or be one that a conversion constructor allows. */
export function convertScalar(value: Value, from: AnyScalar, to: AnyScalar): Value {
  if (from === to) return value
  if (to === 'bool') return typeof value === 'boolean' ? value : Number(value) !== 0
  if (typeof value === 'boolean') return to === 'abstract-int' ? BigInt(value) : Number(value)
  if (isFloatKind(to)) return convertFloat(Number(value as number | bigint), to)
  if (typeof value === 'bigint') return checkInteger(value, to)
  const number = value as number
  if (from !== 'abstract-float') return convertConcrete(number, from, to)
  const [low, high] = to === 'i32' ? [-(2 ** 31), 2 ** 31 - 1] : [0, 2 ** 32 - 1]
  return clampTo(Math.trunc(number), low, high) + 0
}

/** The conversions of each list. A value may hold the same list many times, in a source that is short. */
const conversions = new WeakMap<readonly Value[], Map<Type, Value>>()

/** Converts a constant between types of equal shape. */
export function convertValue(value: Value, from: Type, to: Type): Value {
  if (from === to) return value
  switch (from.kind) {
    case 'scalar':
    case 'vector':
    case 'matrix':
      return mapComponents((v: never) => convertScalar(v, from.scalar, scalarOf(to)!), value)
    case 'array': {
      const elements = value as Value[]
      const known = conversions.get(elements) ?? new Map<Type, Value>()
      conversions.set(elements, known)
      const { element } = to as typeof from
      const converted = known.get(to) ?? elements.map((v) => convertValue(v, from.element, element))
      known.set(to, converted)
      declare(converted, declarationOf(elements))
      return converted
    }
    case 'struct':
      return (value as Value[]).map((v, i) =>
        convertValue(v, from.members[i]!.type, (to as StructType).members[i]!.type),
      )
    default:
      throw new ConstantError(`${typeName(from)} has no constants`)
  }
}

/** The zero values that are lists, so that they can be recognized without examining their elements. */
const zeroLists = new WeakSet<readonly Value[]>()

/**
 * The zero value of a type. Each type has one shared zero value. That of an array is an empty list, since a
 * source can have many types of long arrays.
 */
export const zeroValue = typeProperty((type: Type): Value => {
  const zero = makeZero(type)
  if (Array.isArray(zero)) zeroLists.add(zero)
  return zero
})

function makeZero(type: Type): Value {
  switch (type.kind) {
    case 'scalar': {
      const kind = type.scalar as AnyScalar
      return kind === 'bool' ? false : kind === 'abstract-int' ? 0n : 0
    }
    case 'vector':
    case 'matrix':
      return new Array<Value>(elementCount(type)!).fill(zeroValue(elementType(type)!))
    case 'array':
      return []
    case 'struct':
      return type.members.map((m) => zeroValue(m.type))
    default:
      throw new ConstantError(`${typeName(type)} has no zero value`)
  }
}

function isZero(value: Value): boolean {
  if (Array.isArray(value)) return zeroLists.has(value) || value.every(isZero)
  return value === false || value === 0n || Object.is(value, 0)
}

/**
 * A constant of a concrete type as an IR expression. `count` is called for each literal in it; `named` returns the
 * expression for a part that has a name.
 */
export function valueExpression(
  value: Value,
  type: Type,
  loc: Location,
  count: (loc: Location) => void,
  named?: (part: Value, type: Type) => Expression | undefined,
): Expression {
  const part = (v: Value, of: Type) => named?.(v, of) ?? valueExpression(v, of, loc, count, named)
  if (type.kind === 'scalar') {
    count(loc)
    return { kind: 'literal', value: value as number | boolean, type: type as ScalarType, loc }
  }
  const parts = value as readonly Value[]
  if (isZero(value)) return { kind: 'zero', type, loc }
  if (type.kind === 'vector' && parts.every((v) => Object.is(v, parts[0])))
    return { kind: 'splat', value: part(parts[0]!, elementType(type)!), type, loc }
  const typeOf = (i: number) => (type.kind === 'struct' ? type.members[i]!.type : elementType(type)!)
  const args = parts.map((v, i) => part(v, typeOf(i)))
  return { kind: 'construct', args, type: type as Construct['type'], loc }
}
