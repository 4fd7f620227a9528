import type { ArrayType, Expression, MatrixType, ScalarType, StructType, Type, VectorType } from '../ir.ts'
import { containsSubgroupMatrix } from '../type-property.ts'
import { arrayType, matrixType, typeName, vectorType } from '../types.ts'
import type { CallNode } from './ast.ts'
import { convertScalar, type Value, zeroValue } from './constant-value.ts'
import { abstractInt, anyScalar, commonType, concreteOf, scalarOf, withScalar } from './numeric-types.ts'
import type { ConstantOperand, Operand, ValueOperand } from './operand.ts'
import type { ExpressionScope } from './scopes.ts'
import { constructSubgroupMatrix, noteMatrices } from './subgroup-matrix.ts'
import type { TypeGenerator } from './type-names.ts'
import { checkElement, checkExtent } from './type-resolution.ts'
import { isConstructible } from './type-structure.ts'

/** A call of a type: its zero value, a conversion, or a construction from parts. */
export function construct(scope: ExpressionScope, type: Type, node: CallNode): Operand {
  const { at } = node
  if (!isConstructible(type)) throw scope.error(at, `values of type ${typeName(type)} cannot be constructed`)
  const args = node.args.map((arg) => scope.value(scope.expression(arg)))
  noteMatrices(scope, type, at)
  if (type.kind === 'subgroup-matrix') return constructSubgroupMatrix(scope, type, args, at)
  if (args.length === 0 && containsSubgroupMatrix(type))
    return scope.runtime({ kind: 'zero', type, loc: scope.loc(at) }, at)
  if (args.length === 0) return scope.constantOperand(at, type, zeroValue(type), false)
  switch (type.kind) {
    case 'scalar':
      return convertTo(scope, type, single(scope, type, args, at), at)
    case 'vector':
      return constructVector(scope, type, args, at)
    case 'matrix':
      return constructMatrix(scope, type, args, at)
    case 'array':
      return constructParts(scope, type, args, type.length!, () => type.element, at)
    default: {
      const { members } = type as StructType
      return constructParts(scope, type as StructType, args, members.length, (i) => members[i]!.type, at)
    }
  }
}

function single(scope: ExpressionScope, type: Type, args: ValueOperand[], at: number): ValueOperand {
  if (args.length !== 1) throw scope.error(at, `${typeName(type)} takes 1 value, not ${args.length}`)
  const [arg] = args as [ValueOperand]
  if (arg.type.kind !== 'scalar')
    throw scope.error(at, `${typeName(type)} cannot be made from ${typeName(arg.type)}`)
  return arg
}

/** An explicit conversion between types of equal shape. */
function convertTo(
  scope: ExpressionScope,
  type: ScalarType | VectorType | MatrixType,
  arg: ValueOperand,
  at: number,
): Operand {
  if (arg.type === type) return { ...arg, at }
  if (arg.kind === 'constant') {
    const from = scalarOf(arg.type)!
    const each = (v: Value): Value => (Array.isArray(v) ? v.map(each) : convertScalar(v, from, type.scalar))
    return scope.fold(at, type, [arg], ([known]) => each(known))
  }
  return scope.runtime({ kind: 'convert', value: scope.expressionOf(arg), type, loc: scope.loc(at) }, at)
}

/** A vector constructor whose component type is given. */
function constructVector(
  scope: ExpressionScope,
  type: VectorType,
  args: ValueOperand[],
  at: number,
): Operand {
  const [first] = args as [ValueOperand]
  const scalar = anyScalar(type.scalar)
  if (args.length === 1) {
    if (first.type.kind === 'vector') {
      if (first.type.size !== type.size)
        throw scope.error(at, `${typeName(type)} cannot be made from ${typeName(first.type)}`)
      return convertTo(scope, type, first, at)
    }
    const value = scope.convert(first, scalar, `the component of ${typeName(type)}`)
    if (value.kind === 'constant') {
      return scope.fold(at, type, [value], ([known]) => new Array<Value>(type.size).fill(known))
    }
    return scope.runtime({ kind: 'splat', value: scope.expressionOf(value), type, loc: scope.loc(at) }, at)
  }
  const count = args.reduce((sum, arg) => sum + (arg.type.kind === 'vector' ? arg.type.size : 1), 0)
  if (count !== type.size)
    throw scope.error(at, `${typeName(type)} takes ${type.size} components, not ${count}`)
  const parts = args.map((arg) =>
    scope.convert(
      arg,
      arg.type.kind === 'vector' ? withScalar(arg.type, type.scalar) : scalar,
      `a part of ${typeName(type)}`,
    ),
  )
  return assemble(scope, type, parts, at, (values) => values.flat())
}

function constructMatrix(
  scope: ExpressionScope,
  type: MatrixType,
  args: ValueOperand[],
  at: number,
): Operand {
  const [first] = args as [ValueOperand]
  const { columns, rows, scalar } = type
  if (args.length === 1 && first.type.kind === 'matrix' && withScalar(first.type, scalar) === type) {
    return convertTo(scope, type, first, at)
  }
  const scalars = args.every((arg) => arg.type.kind === 'scalar')
  const wanted = scalars ? columns * rows : columns
  if (args.length !== wanted) {
    throw scope.error(
      at,
      `${typeName(type)} takes ${columns} columns or ${columns * rows} numbers, not ${args.length}`,
    )
  }
  const part = scalars ? anyScalar(scalar) : vectorType(rows, scalar)
  const parts = args.map((arg) => scope.convert(arg, part, `a part of ${typeName(type)}`))
  return assemble(scope, type, parts, at, (values) =>
    scalars ? Array.from({ length: columns }, (_, c) => values.slice(c * rows, (c + 1) * rows)) : values,
  )
}

function constructParts(
  scope: ExpressionScope,
  type: ArrayType | StructType,
  args: ValueOperand[],
  count: number,
  typeOf: (part: number) => Type,
  at: number,
): Operand {
  const name = typeName(type)
  if (args.length !== count) throw scope.error(at, `${name} takes ${count} values, not ${args.length}`)
  const parts = args.map((arg, i) => scope.convert(arg, typeOf(i), `part ${i + 1} of ${name}`))
  return assemble(scope, type, parts, at, (values) => values)
}

/** A composite of parts of the right types: constant if all are. */
function assemble(
  scope: ExpressionScope,
  type: VectorType | MatrixType | ArrayType | StructType,
  parts: ValueOperand[],
  at: number,
  combine: (values: readonly Value[]) => Value,
): Operand {
  if (parts.every((part): part is ConstantOperand => part.kind === 'constant')) {
    return scope.fold(at, type, parts, combine)
  }
  const concrete = concreteOf(type) as typeof type
  const args: Expression[] = parts.map((part) => scope.expressionOf(part))
  return scope.runtime({ kind: 'construct', args, type: concrete, loc: scope.loc(at) }, at)
}

/** `vec3(...)`, `mat2x2(...)`, `array(...)` without template arguments: the type comes from the parts. */
export function constructGenerated(
  scope: ExpressionScope,
  generator: TypeGenerator,
  node: CallNode,
): Operand {
  const { at, callee } = node
  const args = node.args.map((arg) => scope.value(scope.expression(arg)))
  const allConstant = args.every((arg) => arg.kind === 'constant')
  const fail = () =>
    scope.error(
      at,
      `${callee.name}(${args.map((arg) => typeName(arg.type)).join(', ')}) has no common component type`,
    )
  const settle = (type: Type | undefined): Type => {
    if (type === undefined) throw fail()
    return allConstant ? type : concreteOf(type)
  }
  switch (generator.kind) {
    case 'vector': {
      const scalars = args.map((arg) => componentOf(arg.type))
      if (scalars.includes(undefined)) throw fail()
      const scalar = args.length === 0 ? abstractInt : settle(commonType(scalars as Type[]))
      const type = vectorType(generator.size, scalarOf(scalar) as 'f32')
      return args.length === 0
        ? scope.constantOperand(at, type, zeroValue(type), false)
        : constructVector(scope, type, args, at)
    }
    case 'matrix': {
      const scalars = args.map((arg) => componentOf(arg.type))
      if (args.length === 0 || scalars.includes(undefined)) throw fail()
      let scalar = settle(commonType(scalars as Type[]))
      if (scalar === abstractInt) scalar = anyScalar('abstract-float')
      const kind = scalarOf(scalar)
      if (kind === 'i32' || kind === 'u32' || kind === 'bool') throw fail()
      return constructMatrix(scope, matrixType(generator.columns, generator.rows, kind as 'f32'), args, at)
    }
    case 'array': {
      const element = settle(commonType(args.map((arg) => arg.type)))
      checkElement(scope, element, at)
      if (!isConstructible(element)) throw fail()
      const type = arrayType(element, args.length)
      checkExtent(scope, type, at)
      return constructParts(scope, type, args, args.length, () => element, at)
    }
    default:
      throw scope.error(at, `'${callee.name}' cannot be constructed`)
  }
}

function componentOf(type: Type): Type | undefined {
  const scalar = scalarOf(type)
  return scalar === undefined ? undefined : anyScalar(scalar)
}
