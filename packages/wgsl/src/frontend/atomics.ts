import type { BuiltinFunction } from '../builtin-functions.ts'
import type { Expression, Type } from '../ir.ts'
import { boolType, typeName, u32Type, vec2uType } from '../types.ts'
import type { CallNode } from './ast.ts'
import { anyScalar, resultStruct } from './numeric-types.ts'
import type { Operand, PointerOperand } from './operand.ts'
import type { ExpressionScope } from './scopes.ts'
import { isConstructible } from './type-structure.ts'

/** Lowers the built-in functions that take a pointer: atomics, arrayLength and workgroupUniformLoad. */
export function lowerAtomic(
  scope: ExpressionScope,
  name: BuiltinFunction,
  valueCount: number,
  node: CallNode,
): Operand {
  const { at } = node
  const count = valueCount + 1
  if (node.args.length !== count)
    throw scope.error(at, `${name} takes ${count} arguments, not ${node.args.length}`)
  const [pointer, ...values] = node.args.map((arg) => scope.value(scope.expression(arg)))
  if (pointer?.kind !== 'pointer') {
    throw scope.error(
      node.args[0]!.at,
      `the first argument of ${name} is ${typeName(pointer!.type)}, not a pointer`,
    )
  }
  const type = resultType(scope, name, pointer)
  const { store } = pointer.type
  const held = store.kind !== 'atomic' ? undefined : store.wide ? vec2uType : anyScalar(store.scalar)
  const args: Expression[] = [scope.expressionOf(pointer)]
  for (const [i, value] of values.entries()) {
    args.push(scope.expressionAs(value, held!, `argument ${i + 2} of ${name}`))
  }
  return scope.called({ kind: 'builtin-call', name, args, type, loc: scope.loc(at) }, at)
}

function resultType(
  scope: ExpressionScope,
  name: BuiltinFunction,
  { type, at }: PointerOperand,
): Type | undefined {
  const { store, space, access } = type
  const wrong = (wanted: string) =>
    scope.error(at, `${name} takes a pointer to ${wanted}, not ${typeName(type)}`)
  if (name === 'arrayLength') {
    if (store.kind !== 'array' || store.length !== undefined) throw wrong('a runtime-sized array')
    return u32Type
  }
  if (name === 'workgroupUniformLoad') {
    if (space !== 'workgroup') throw wrong('workgroup memory')
    if (store.kind === 'atomic') return anyScalar(store.scalar)
    if (!isConstructible(store)) throw wrong('a type that has values')
    return store
  }
  if (store.kind !== 'atomic') throw wrong('an atomic')
  if (access !== 'read_write') throw wrong('writable memory')
  const isWide = name === 'atomicStoreMin' || name === 'atomicStoreMax'
  if (isWide !== (store.wide === true))
    throw wrong(isWide ? 'an atomic<vec2u>' : 'an atomic<i32> or atomic<u32>')
  const scalar = anyScalar(store.scalar)
  if (name === 'atomicStore' || isWide) return undefined
  if (name === 'atomicCompareExchangeWeak') return resultStruct('atomic_compare_exchange', scalar, boolType)
  return scalar
}
