import type { BinaryOperator, ScalarType, Type, VectorType } from '../ir.ts'
import {
  binaryFunction,
  bitcastValue,
  mapComponents,
  multiplyMatrix,
  productShape,
  type Round,
  rounding,
} from '../values/operators.ts'
import { ConstantError, checkInteger, isFloatKind, roundFloat, type Value } from './constant-value.ts'
import { type AnyScalar, scalarOf } from './numeric-types.ts'

const minimumI32 = -2147483648

/** `left operator right` on two scalars of one kind; for shifts the right operand is a u32. */
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
  if (kind === 'abstract-int') {
    return operator === '<<' || operator === '>>'
      ? abstractShift(operator, left as bigint, BigInt(right as number | bigint))
      : checkInteger(bigOperator(operator, left as bigint, right as bigint), kind)
  }
  if (kind === 'i32' || kind === 'u32') checkOperands(operator, kind, left as number, right as number)
  else if (operator === '%') return floatRemainder(kind, left as number, right as number)
  return binaryFunction(operator, kind, constantRounding(kind))(left as never, right as never)
}

/** Rounds the result of an operation on constants; throws if it has no finite value of the kind. */
export function constantRounding(kind: AnyScalar): Round {
  if (kind === 'abstract-int') return ((x: bigint) => checkInteger(x, kind)) as unknown as Round
  return isFloatKind(kind) ? (x) => roundFloat(x, kind) : rounding[kind]!
}

/** The specification's own formula, rounded at each step, not the exact remainder. */
function floatRemainder(kind: AnyScalar, a: number, b: number): number {
  // The quotient of two f16 values may exceed the range of f16.
  const step = kind === 'f16' ? 'f32' : kind
  const whole = Math.trunc(roundFloat(a / b, step))
  return roundFloat(a - roundFloat(b * whole, step), kind)
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

/** Rejects integer operands for which the operation is an error on constants. */
function checkOperands(operator: BinaryOperator, kind: 'i32' | 'u32', a: number, b: number): void {
  if (operator === '/' || operator === '%') {
    if (b === 0) throw new ConstantError(`${a} ${operator} 0 has no value`)
    if (kind === 'i32' && a === minimumI32 && b === -1)
      throw new ConstantError(`${a} ${operator} -1 overflows i32`)
  } else if (operator === '<<' || operator === '>>') {
    if (b > 31) throw new ConstantError(`the shift amount ${b} must be less than 32`)
    const back = kind === 'i32' ? (a << b) >> b : (a << b) >>> b
    if (operator === '<<' && back !== a) throw new ConstantError(`the shift ${a} << ${b} loses bits`)
  }
}

/** A binary operator on constants of suitable types (see `Binary` of the IR). */
export function binaryValue(
  operator: BinaryOperator,
  left: Value,
  leftType: Type,
  right: Value,
  rightType: Type,
): Value {
  const kind = scalarOf(leftType)!
  const shape = operator === '*' ? productShape(leftType, rightType) : undefined
  if (shape !== undefined)
    return multiplyMatrix(left as number[], right as number[], kind, shape, constantRounding(kind))
  return mapComponents((a: never, b: never) => scalarOperator(operator, kind, a, b), left, right)
}

/** A unary operator on a constant. */
export function unaryValue(operator: '-' | '!' | '~', value: Value, type: Type): Value {
  return mapComponents((v: never) => scalarUnary(operator, v, scalarOf(type)!), value)
}

function scalarUnary(operator: '-' | '!' | '~', value: Value, kind: AnyScalar): Value {
  if (operator === '!') return !value
  // The minimum abstract integer is its own negation, like the minimum i32.
  if (typeof value === 'bigint') return operator === '~' ? ~value : BigInt.asIntN(64, -value)
  if (operator === '~') return kind === 'i32' ? ~(value as number) : ~(value as number) >>> 0
  return kind === 'i32' ? -(value as number) | 0 : -(value as number)
}

/** Reinterprets the bits of a constant; throws if the result is not finite. */
export function bitcastConstant(
  value: Value,
  from: ScalarType | VectorType,
  to: ScalarType | VectorType,
): Value {
  const result = bitcastValue(value as number, from.scalar, to.scalar, to.kind === 'vector' ? to.size : 1)
  const wrong = [result]
    .flat()
    .map(Number)
    .find((x) => !Number.isFinite(x))
  if (wrong !== undefined) throw new ConstantError(`the bits cast to ${wrong}, which is not a valid constant`)
  return result
}
