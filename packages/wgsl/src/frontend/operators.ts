import type { BinaryOperator, MatrixType, ScalarKind, Type, VectorType } from '../ir.ts'
import { boolType, matrixType, u32Type, vectorType } from '../types.ts'
import { type AnyScalar, anyScalar, commonType, scalarOf, withScalar } from './numeric-types.ts'

/** The types that an operator's operands convert to, and its result type. */
export interface OperatorTypes {
  readonly left: Type
  readonly right: Type
  readonly result: Type
}

/** The types of a binary operator; undefined if it does not apply to the operands. */
export function binaryTypes(operator: BinaryOperator, left: Type, right: Type): OperatorTypes | undefined {
  switch (operator) {
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
      return arithmeticTypes(operator, left, right)
    case '<<':
    case '>>':
      return shiftTypes(left, right)
    case '&':
    case '|':
    case '^':
      return bitwiseTypes(operator, left, right)
    default:
      return comparisonTypes(operator, left, right)
  }
}

function isScalarOrVector(type: Type): boolean {
  return type.kind === 'scalar' || type.kind === 'vector'
}

function commonScalar(left: Type, right: Type): AnyScalar | undefined {
  const a = scalarOf(left)
  const b = scalarOf(right)
  if (a === undefined || b === undefined) return undefined
  const common = commonType([anyScalar(a), anyScalar(b)])
  return common === undefined ? undefined : scalarOf(common)
}

function arithmeticTypes(operator: BinaryOperator, left: Type, right: Type): OperatorTypes | undefined {
  const scalar = commonScalar(left, right)
  if (scalar === undefined || scalar === 'bool') return undefined
  const to = (type: Type) => withScalar(type, scalar)
  const types = (result: Type) => ({ left: to(left), right: to(right), result })
  if (isScalarOrVector(left) && isScalarOrVector(right)) {
    if (left.kind === 'vector' && right.kind === 'vector' && left.size !== right.size) return undefined
    return types(to(left.kind === 'vector' ? left : right))
  }
  const [a, b] = [to(left), to(right)]
  if (operator === '+' || operator === '-') return a === b ? types(a) : undefined
  if (operator !== '*') return undefined
  return multiplyTypes(a, b, types)
}

function multiplyTypes(a: Type, b: Type, types: (result: Type) => OperatorTypes): OperatorTypes | undefined {
  // The scalars agree; matrices of integers do not exist, but abstract-int operands can get here.
  const matrix = (a.kind === 'matrix' ? a : b) as MatrixType
  const vector = (size: number) => vectorType(size as 2, matrix.scalar as ScalarKind)
  if (a.kind === 'scalar' || b.kind === 'scalar') return types(matrix)
  if (a.kind === 'vector') return a.size === matrix.rows ? types(vector(matrix.columns)) : undefined
  if (b.kind === 'vector') return b.size === matrix.columns ? types(vector(matrix.rows)) : undefined
  const [l, r] = [a as MatrixType, b as MatrixType]
  return l.columns === r.rows ? types(matrixType(r.columns, l.rows, l.scalar)) : undefined
}

function shiftTypes(left: Type, right: Type): OperatorTypes | undefined {
  if (!isScalarOrVector(left) || !isScalarOrVector(right)) return undefined
  const scalar = scalarOf(left)
  if (scalar !== 'i32' && scalar !== 'u32' && scalar !== 'abstract-int') return undefined
  const amount = left.kind === 'vector' ? vectorType(left.size, 'u32') : u32Type
  if (withScalar(right, 'u32') !== amount || commonScalar(right, u32Type) !== 'u32') return undefined
  return { left, right: amount, result: left }
}

function bitwiseTypes(operator: BinaryOperator, left: Type, right: Type): OperatorTypes | undefined {
  const common = isScalarOrVector(left) ? commonType([left, right]) : undefined
  if (common === undefined) return undefined
  const scalar = scalarOf(common)
  const integer = scalar === 'i32' || scalar === 'u32' || scalar === 'abstract-int'
  if (!integer && !(scalar === 'bool' && operator !== '^')) return undefined
  return { left: common, right: common, result: common }
}

function comparisonTypes(operator: BinaryOperator, left: Type, right: Type): OperatorTypes | undefined {
  const common = isScalarOrVector(left) ? commonType([left, right]) : undefined
  if (common === undefined) return undefined
  if (scalarOf(common) === 'bool' && operator !== '==' && operator !== '!=') return undefined
  const result = common.kind === 'vector' ? vectorType((common as VectorType).size, 'bool') : boolType
  return { left: common, right: common, result }
}

/** The result type of a unary operator; undefined if it does not apply. */
export function unaryType(operator: '-' | '!' | '~', type: Type): Type | undefined {
  if (!isScalarOrVector(type)) return undefined
  const scalar = scalarOf(type)
  switch (operator) {
    case '!':
      return scalar === 'bool' ? type : undefined
    case '~':
      return scalar === 'i32' || scalar === 'u32' || scalar === 'abstract-int' ? type : undefined
    case '-':
      return scalar === 'bool' || scalar === 'u32' ? undefined : type
  }
}
