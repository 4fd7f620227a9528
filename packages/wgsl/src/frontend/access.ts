import type { ComponentPlace, Place, ScalarType, Type, VectorType } from '../ir.ts'
import { elementCount, i32Type, typeName, vectorType } from '../types.ts'
import type { ExpressionNode, IndexNode, MemberNode } from './ast.ts'
import { declarationOf, declare } from './constant-declarations.ts'
import { type Value, zeroValue } from './constant-value.ts'
import { anyScalar, concreteOf, isOverrideSized } from './numeric-types.ts'
import {
  type ConstantOperand,
  isConstExpression,
  type Operand,
  type ReferenceOperand,
  type ValueOperand,
} from './operand.ts'
import type { ExpressionScope } from './scopes.ts'
import { elementType, membersByName } from './type-structure.ts'

/** The base of an access: the memory behind a pointer, or the operand itself. */
export function dereferenced(operand: Operand): Operand {
  return operand.kind === 'pointer' ? pointee(operand.type, operand.place, operand.at) : operand
}

/** An index: i32, u32, or a constant that converts to i32. */
export function indexOperand(scope: ExpressionScope, node: ExpressionNode): ValueOperand {
  return scope.integer(scope.value(scope.expression(node)), 'the index')
}

/** `base[index]`; `lowered` is the base. */
export function lowerIndex(
  scope: ExpressionScope,
  { base: baseNode, index: indexNode, at }: IndexNode,
  lowered = dereferenced(scope.expression(baseNode)),
): Operand {
  let base = lowered
  const index = indexOperand(scope, indexNode)
  if (base.kind === 'constant' && !isConstExpression(index))
    base = scope.convert(base, concreteOf(base.type), 'the value')
  if (base.kind === 'nothing') throw scope.error(at, 'the function returns no value, so it has no elements')
  const element = elementType(base.type)
  if (element === undefined) throw scope.error(at, `${typeName(base.type)} has no elements`)
  if (index.kind === 'constant' && index.value !== undefined)
    return constantIndex(scope, base, element, index, at)
  if (index.kind === 'constant' && base.kind === 'constant')
    return scope.constantOperand(at, element, undefined, true)
  const indexExpression = scope.expressionOf(index)
  const loc = scope.loc(at)
  if (base.kind === 'reference') {
    const place: Place = {
      kind: 'index-place',
      base: base.place,
      index: indexExpression,
      type: element,
      loc,
    }
    return { ...base, type: element, place, at }
  }
  const expression = scope.expressionOf(base)
  const type = elementType(expression.type)!
  return scope.runtime({ kind: 'index', base: expression, index: indexExpression, type, loc }, at)
}

function constantIndex(
  scope: ExpressionScope,
  base: Exclude<Operand, { kind: 'nothing' }>,
  element: Type,
  given: ConstantOperand,
  at: number,
): Operand {
  let index = given
  let i = Number(index.value)
  const count = elementCount(base.type)
  const isOutside = i < 0 || (count !== undefined && i >= count)
  if (isOutside) {
    const override = index.override || (i >= 0 && isOverrideSized(base.type))
    scope.rejectValue(index.at, `the index ${i} is outside ${typeName(base.type)}`, override)
    i = 0
    index = scope.constantOperand(index.at, i32Type, i, index.override)
  }
  const loc = scope.loc(at)
  if (base.kind === 'constant') {
    // In the default of an override an index outside the value is no error yet, but the result has no value.
    const isKnown = base.value !== undefined && !(isOutside && index.override)
    const value = isKnown ? ((base.value as readonly Value[])[i] ?? zeroValue(element)) : undefined
    return partOf(base, i, scope.constantOperand(at, element, value, base.override || index.override))
  }
  const literal = scope.expressionOf(index)
  if (base.kind === 'reference') {
    const place: Place =
      base.type.kind === 'vector'
        ? { kind: 'component-place', base: base.place, component: i, type: element as ScalarType, loc }
        : { kind: 'index-place', base: base.place, index: literal, type: element, loc }
    return { ...base, type: element, place, at }
  }
  const expression = scope.expressionOf(base)
  if (expression.type.kind === 'vector') {
    return scope.runtime(
      { kind: 'swizzle', base: expression, components: [i], type: element as ScalarType, loc },
      at,
    )
  }
  return scope.runtime({ kind: 'index', base: expression, index: literal, type: element, loc }, at)
}

/** A part of a named constant has a name too, so that a large one is not written out at each use. */
function partOf(base: ConstantOperand, part: number | string, operand: ConstantOperand): Operand {
  const whole = declarationOf(base.value)
  declare(operand.value, whole && { ...whole, name: `${whole.name}.${part}` })
  return operand
}

/** `base.name`: a member of a structure, or components of a vector. */
export function lowerMember(
  scope: ExpressionScope,
  { base: baseNode, name, nameAt, at }: MemberNode,
  base = dereferenced(scope.expression(baseNode)),
): Operand {
  if (base.kind === 'nothing') throw scope.error(at, 'the function returns no value, so it has no members')
  const { type } = base
  if (type.kind === 'vector') return swizzle(scope, base, name, nameAt, at)
  if (type.kind !== 'struct') throw scope.error(nameAt, `${typeName(type)} has no member '${name}'`)
  const member = membersByName(type).get(name)
  if (member === undefined) throw scope.error(nameAt, `the structure ${type.name} has no member '${name}'`)
  const loc = scope.loc(at)
  switch (base.kind) {
    case 'constant': {
      const value = base.value && (base.value as Value[])[member.index]!
      return partOf(base, name, scope.constantOperand(at, member.type, value, base.override))
    }
    case 'reference': {
      const place: Place = { kind: 'member-place', base: base.place, member, type: member.type, loc }
      return { ...base, type: member.type, place, at }
    }
    default:
      return scope.runtime(
        { kind: 'member', base: scope.expressionOf(base), member, type: member.type, loc },
        at,
      )
  }
}

/** The component indices of a swizzle. */
export function swizzleComponents(
  scope: ExpressionScope,
  type: VectorType,
  name: string,
  at: number,
): number[] {
  const set = /^[xyzw]{1,4}$/.test(name) ? 'xyzw' : /^[rgba]{1,4}$/.test(name) ? 'rgba' : undefined
  const named = [...name].map((c) => set?.indexOf(c) ?? type.size)
  if (named.some((c) => c >= type.size))
    throw scope.error(at, `${typeName(type)} has no components '${name}'`)
  return named
}

function swizzle(
  scope: ExpressionScope,
  base: Exclude<Operand, { kind: 'nothing' }>,
  name: string,
  nameAt: number,
  at: number,
): Operand {
  const vector = base.type as VectorType
  const named = swizzleComponents(scope, vector, name, nameAt)
  const [first] = named as [number]
  const scalar = anyScalar(vector.scalar) as ScalarType
  const size = named.length
  const type = size === 1 ? scalar : vectorType(size as 2, vector.scalar)
  const loc = scope.loc(at)
  if (base.kind === 'constant') {
    const parts = base.value as Value[] | undefined
    const value = parts && (size === 1 ? parts[first]! : named.map((c) => parts[c]!))
    return scope.constantOperand(at, type, value, base.override)
  }
  if (base.kind === 'reference' && size === 1) {
    const place: ComponentPlace = {
      kind: 'component-place',
      base: base.place,
      component: first,
      type: scalar,
      loc,
    }
    return { ...base, type: scalar, place, at }
  }
  return scope.runtime(
    { kind: 'swizzle', base: scope.expressionOf(base), components: named, type: type as VectorType, loc },
    at,
  )
}

/** The reference to the memory that a pointer points to. */
export function pointee(
  type: Extract<Type, { kind: 'pointer' }>,
  place: Place,
  at: number,
): ReferenceOperand {
  return { kind: 'reference', type: type.store, place, space: type.space, access: type.access, at }
}

/** Whether a place is a vector component selected by an index. */
export function isVectorElement(place: Place): boolean {
  return place.kind === 'index-place' && place.base.type.kind === 'vector'
}
