import type { BinaryOperator, MatrixType, Type, VectorType } from '../ir.ts'
import { ConstantError, checkInteger, isFloatKind, roundFloat, type Value } from './constant-value.ts'
import { type AnyScalar, scalarOf } from './numeric-types.ts'

const minimumI32 = -2147483648

/** `left operator right` on two scalars of one kind; for shifts the right one is a u32. */
export function scalarOperator(operator: BinaryOperator, kind: AnyScalar, left: Value, right: Value): Value {
  switch (operator) {
    case '==':
      return left === right
    case '!=':
      return left !== right
    case '<':
      return left < right
    case '<=':
      return left <= right
    case '>':
      return left > right
    case '>=':
      return left >= right
    default:
  }
  if (kind === 'bool') return operator === '&' ? Boolean(left && right) : Boolean(left || right)
  if (isFloatKind(kind)) return floatOperator(operator, kind, left as number, right as number)
  if (kind === 'abstract-int') {
    return operator === '<<' || operator === '>>'
      ? abstractShift(operator, left as bigint, BigInt(right as number | bigint))
      : checkInteger(bigOperator(operator, left as bigint, right as bigint), kind)
  }
  return integerOperator(operator, kind as 'i32' | 'u32', left as number, right as number)
}

function floatOperator(operator: BinaryOperator, kind: AnyScalar, a: number, b: number): number {
  switch (operator) {
    case '+':
      return roundFloat(a + b, kind)
    case '-':
      return roundFloat(a - b, kind)
    case '*':
      return roundFloat(a * b, kind)
    case '/':
      return roundFloat(a / b, kind)
    case '%': {
      // The specification's own formula, rounded at each step, not the exact remainder. The quotient of two f16 is no f16:
      // it may be beyond the largest.
      const step = kind === 'f16' ? 'f32' : kind
      const whole = Math.trunc(roundFloat(a / b, step))
      return roundFloat(a - roundFloat(b * whole, step), kind)
    }
    default:
      throw new ConstantError(`'${operator}' does not apply to ${kind}`)
  }
}

function bigOperator(operator: BinaryOperator, a: bigint, b: bigint): bigint {
  switch (operator) {
    case '+':
      return a + b
    case '-':
      return a - b
    case '*':
      return a * b
    case '/':
      if (b === 0n) throw new ConstantError(`the division ${a} / 0 has no value`)
      return a / b
    case '%':
      if (b === 0n) throw new ConstantError(`the remainder ${a} % 0 has no value`)
      if (b === -1n) checkInteger(-a, 'abstract-int')
      return a % b
    case '&':
      return a & b
    case '|':
      return a | b
    default:
      return a ^ b
  }
}

function abstractShift(operator: '<<' | '>>', a: bigint, b: bigint): Value {
  if (operator === '>>') return b > 63n ? (a < 0n ? -1n : 0n) : a >> b
  if (a === 0n) return 0n
  if (b > 63n) throw new ConstantError(`the shift ${a} << ${b} loses bits`)
  return checkInteger(a << b, 'abstract-int')
}

function integerOperator(operator: BinaryOperator, kind: 'i32' | 'u32', a: number, b: number): number {
  const wrap = (x: number) => (kind === 'i32' ? x | 0 : x >>> 0)
  switch (operator) {
    case '+':
      return wrap(a + b)
    case '-':
      return wrap(a - b)
    case '*':
      return wrap(Math.imul(a, b))
    case '/':
    case '%':
      if (b === 0) throw new ConstantError(`${a} ${operator} 0 has no value`)
      if (kind === 'i32' && a === minimumI32 && b === -1)
        throw new ConstantError(`${a} ${operator} -1 overflows i32`)
      return operator === '/' ? Math.trunc(a / b) + 0 : (a % b) + 0
    case '&':
      return wrap(a & b)
    case '|':
      return wrap(a | b)
    case '^':
      return wrap(a ^ b)
    case '<<': {
      if (b > 31) throw new ConstantError(`the shift amount ${b} must be less than 32`)
      const result = wrap(a << b)
      const back = kind === 'i32' ? result >> b : result >>> b
      if (back !== a) throw new ConstantError(`the shift ${a} << ${b} loses bits`)
      return result
    }
    default:
      if (b > 31) throw new ConstantError(`the shift amount ${b} must be less than 32`)
      return kind === 'i32' ? a >> b : a >>> b
  }
}

/** A binary operator on constants whose types suit it (see `Binary` of the IR). */
export function binaryValue(
  operator: BinaryOperator,
  left: Value,
  leftType: Type,
  right: Value,
  rightType: Type,
): Value {
  if (leftType.kind === 'matrix' || rightType.kind === 'matrix')
    return matrixOperator(operator, left, leftType, right, rightType)
  const kind = scalarOf(leftType)!
  if (leftType.kind === 'scalar' && rightType.kind === 'scalar')
    return scalarOperator(operator, kind, left, right)
  const { size } = (leftType.kind === 'vector' ? leftType : rightType) as VectorType
  const component = (v: Value, i: number) => (Array.isArray(v) ? (v as Value[])[i]! : v)
  return Array.from({ length: size }, (_, i) =>
    scalarOperator(operator, kind, component(left, i), component(right, i)),
  )
}

function matrixOperator(
  operator: BinaryOperator,
  left: Value,
  leftType: Type,
  right: Value,
  rightType: Type,
): Value {
  const kind = scalarOf(leftType)!
  const op = (o: BinaryOperator, a: Value, b: Value) => scalarOperator(o, kind, a, b)
  const dot = (a: Value[], b: Value[]) =>
    a.map((x, i) => op('*', x, b[i]!)).reduce((sum, x) => op('+', sum, x))
  const row = (m: Value[][], r: number) => m.map((column) => column[r]!)
  if (leftType.kind === 'scalar') return (right as Value[][]).map((c) => c.map((x) => op('*', left, x)))
  if (rightType.kind === 'scalar') return (left as Value[][]).map((c) => c.map((x) => op('*', x, right)))
  if (operator !== '*')
    return (left as Value[][]).map((c, i) => c.map((x, j) => op(operator, x, (right as Value[][])[i]![j]!)))
  if (leftType.kind === 'vector') return (right as Value[][]).map((column) => dot(left as Value[], column))
  const matrix = left as Value[][]
  const { rows } = leftType as MatrixType
  const times = (v: Value[]) => Array.from({ length: rows }, (_, r) => dot(row(matrix, r), v))
  return rightType.kind === 'vector'
    ? times(right as Value[])
    : (right as Value[][]).map((column) => times(column))
}

/** A unary operator on a constant. */
export function unaryValue(operator: '-' | '!' | '~', value: Value, type: Type): Value {
  if (Array.isArray(value)) return (value as Value[]).map((v) => scalarUnary(operator, v, scalarOf(type)!))
  return scalarUnary(operator, value, scalarOf(type)!)
}

function scalarUnary(operator: '-' | '!' | '~', value: Value, kind: AnyScalar): Value {
  if (operator === '!') return !value
  // The least abstract integer is its own negation, as the least i32 is.
  if (typeof value === 'bigint') return operator === '~' ? ~value : BigInt.asIntN(64, -value)
  if (operator === '~') return kind === 'i32' ? ~(value as number) : ~(value as number) >>> 0
  return kind === 'i32' ? -(value as number) | 0 : -(value as number)
}
