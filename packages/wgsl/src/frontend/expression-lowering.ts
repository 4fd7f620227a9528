import type { BinaryOperator, ScalarType } from '../ir.ts'
import { boolType, pointerType, typeName } from '../types.ts'
import { isVectorElement, lowerIndex, lowerMember, pointee } from './access.ts'
import type { BinaryNode, ExpressionNode, LiteralNode, NameNode, UnaryNode } from './ast.ts'
import { lowerCall } from './calls.ts'
import { unaryValue } from './constant-operators.ts'
import { ConstantError, checkInteger } from './constant-value.ts'
import { parseNumber, roundLiteral } from './number-literal.ts'
import { scalarOf } from './numeric-types.ts'
import type { Operand, ValueOperand } from './operand.ts'
import { unaryType } from './operators.ts'
import type { ExpressionScope } from './scopes.ts'

/** Lowers an expression; the result may be a reference. */
export function lowerExpression(scope: ExpressionScope, node: ExpressionNode): Operand {
  switch (node.kind) {
    case 'literal':
      return literal(scope, node)
    case 'name':
      return name(scope, node)
    case 'call':
      return lowerCall(scope, node)
    case 'unary':
      return unary(scope, node)
    case 'binary':
      return binary(scope, node)
    case 'index':
      return lowerIndex(scope, node)
    case 'member':
      return lowerMember(scope, node)
  }
}

function literal(scope: ExpressionScope, { text, at }: LiteralNode): Operand {
  if (text === 'true' || text === 'false') return scope.constantOperand(at, boolType, text === 'true', false)
  const [type, value] = parseNumber(text)
  if (scalarOf(type) === 'f16' && !scope.module.isEnabled('f16')) {
    throw scope.error(at, `the literal ${text} needs 'enable f16;'`)
  }
  try {
    const kind = scalarOf(type)!
    const exact = typeof value === 'bigint' ? checkInteger(value, kind) : roundLiteral(text, value, kind)
    return scope.constantOperand(at, type, exact, false)
  } catch (error) {
    throw error instanceof ConstantError ? scope.error(at, error.message) : error
  }
}

function name(scope: ExpressionScope, { name, templates, at }: NameNode): Operand {
  const binding = scope.lookup(name)
  if (binding === undefined) {
    if (scope.module.isTypeOrFunction(name)) throw scope.error(at, `'${name}' is not a value`)
    throw scope.error(at, `'${name}' is not declared`)
  }
  if (templates !== undefined) throw scope.error(at, `'${name}' has no template arguments`)
  return binding(at)
}

function unary(scope: ExpressionScope, { operator, value: inner, at }: UnaryNode): Operand {
  const operand = scope.expression(inner)
  if (operator === '&') {
    if (operand.kind !== 'reference') throw scope.error(at, 'the address of a value cannot be taken')
    if (operand.place.kind === 'component-place' || isVectorElement(operand.place)) {
      throw scope.error(at, 'the address of a vector component cannot be taken')
    }
    const { place, space, access } = operand
    return { kind: 'pointer', type: pointerType(space, operand.type, access), place, at }
  }
  const value = scope.value(operand)
  if (operator === '*') {
    if (value.kind !== 'pointer')
      throw scope.error(at, `'*' applies to pointers, not to ${typeName(value.type)}`)
    return pointee(value.type, value.place, at)
  }
  const type = unaryType(operator, value.type)
  if (type === undefined) throw scope.error(at, `'${operator}' does not apply to ${typeName(value.type)}`)
  if (value.kind === 'constant') {
    return scope.fold(at, type, [value], ([known]) => unaryValue(operator, known, type))
  }
  const expression = scope.expressionOf(value)
  return scope.runtime(
    { kind: 'unary', operator, value: expression, type: type as ScalarType, loc: scope.loc(at) },
    at,
  )
}

function binary(
  scope: ExpressionScope,
  { operator, left: leftNode, right: rightNode, at }: BinaryNode,
): Operand {
  const left = scope.value(scope.expression(leftNode))
  if (operator === '&&' || operator === '||') return logical(scope, operator, left, rightNode, at)
  const right = scope.value(scope.expression(rightNode))
  return scope.binary(operator as BinaryOperator, left, right, at)
}

function logical(
  scope: ExpressionScope,
  operator: '&&' | '||',
  left: ValueOperand,
  rightNode: ExpressionNode,
  at: number,
): Operand {
  const a = scope.convert(left, boolType, `the left operand of '${operator}'`)
  const decided = a.kind === 'constant' && a.value === (operator === '||')
  const right = decided ? scope.unevaluated(() => scope.expression(rightNode)) : scope.expression(rightNode)
  const b = scope.convert(right, boolType, `the right operand of '${operator}'`)
  if (a.kind === 'constant' && b.kind === 'constant') {
    const value = decided || a.value === undefined ? a.value : b.value
    return scope.constantOperand(at, boolType, value, a.override || b.override)
  }
  const [l, r] = [scope.expressionOf(a), scope.expressionOf(b)]
  return scope.runtime(
    { kind: 'logical', operator, left: l, right: r, type: boolType, loc: scope.loc(at) },
    at,
  )
}
