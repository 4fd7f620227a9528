import type { BufferType, Expression, Place, Type } from '../ir.ts'
import { alignOf, leastViewSize, runtimeArrayOf } from '../layout.ts'
import { containsAtomic, isHostShareable } from '../type-property.ts'
import { pointerType, typeName, u32Type } from '../types.ts'
import { moduleVariableOf, rootOf } from '../walk.ts'
import type { CallNode, ExpressionNode } from './ast.ts'
import { isOverrideSized } from './numeric-types.ts'
import type { Operand, PointerOperand, ValueOperand } from './operand.ts'
import type { ExpressionScope } from './scopes.ts'
import { resolveType } from './type-resolution.ts'
import { hasFixedFootprint } from './type-structure.ts'

/** Whether a name is that of a function that creates a view of a buffer. */
export function isBufferFunction(name: string): boolean {
  return name === 'bufferView' || name === 'bufferArrayView'
}

/**
 * `bufferView<T>(buffer, offset)` and `bufferArrayView<T>(buffer, offset, size)`: a pointer to a part of a
 * buffer as a `T`.
 */
export function bufferView(scope: ExpressionScope, { callee, args, at }: CallNode): Operand {
  const { name, templates } = callee
  const isArrayView = name === 'bufferArrayView'
  if (templates?.length !== 1)
    throw scope.error(at, `${name} takes one template argument, the type of the view`)
  const count = isArrayView ? 3 : 2
  if (args.length !== count) throw scope.error(at, `${name} takes ${count} arguments, not ${args.length}`)
  const [bufferNode, offsetNode, sizeNode] = args as [
    ExpressionNode,
    ExpressionNode,
    ExpressionNode | undefined,
  ]
  const type = resolveType(scope, templates[0]!)
  checkViewType(scope, name, type, templates[0]!.at)
  const buffer = bufferOperand(scope, name, bufferNode)
  const offset = scope.integer(scope.value(scope.expression(offsetNode)), `the offset of ${name}`)
  const size = sizeNode && scope.integer(scope.value(scope.expression(sizeNode)), `the size of ${name}`)
  checkView(scope, buffer, type, offset, size)
  const place: Place = {
    kind: 'view-place',
    base: buffer.place,
    offset: scope.expressionOf(offset),
    size: size && scope.expressionOf(size),
    type,
    loc: scope.loc(at),
  }
  return { kind: 'pointer', type: pointerType(buffer.type.space, type, buffer.type.access), place, at }
}

/** `bufferLength(buffer)`: the length in bytes. */
export function bufferLength(scope: ExpressionScope, { args, at }: CallNode): Operand {
  if (args.length !== 1) throw scope.error(at, `bufferLength takes 1 argument, not ${args.length}`)
  const buffer = bufferOperand(scope, 'bufferLength', args[0]!)
  const { length } = buffer.place.type as BufferType
  const loc = scope.loc(at)
  const expression: Expression =
    length === undefined
      ? { kind: 'builtin-call', name: 'bufferLength', args: [scope.expressionOf(buffer)], type: u32Type, loc }
      : { kind: 'literal', value: length, type: u32Type, loc }
  return { kind: 'runtime', type: u32Type, expression, at }
}

/**
 * A pointer argument, narrowed to the buffer length of a parameter, which may be equal or shorter; undefined
 * if the argument does not fit.
 */
export function narrowedBuffer(argument: ValueOperand, type: Type): PointerOperand | undefined {
  if (argument.kind !== 'pointer' || type.kind !== 'pointer') return undefined
  const [from, to] = [argument.type.store, type.store]
  if (from.kind !== 'buffer' || to.kind !== 'buffer') return undefined
  if (argument.type.space !== type.space || argument.type.access !== type.access) return undefined
  if (to.length === undefined) return { ...argument, type }
  if (isOverrideSized(from) || isOverrideSized(to)) return undefined
  if (from.length === undefined || from.length < to.length) return undefined
  return { ...argument, type, place: { ...argument.place, type: to } as Place }
}

function checkViewType(scope: ExpressionScope, name: string, type: Type, at: number): void {
  const refuse = (why: string) =>
    scope.error(at, `${name} cannot return a view of type ${typeName(type)}: ${why}`)
  if (type.kind === 'pointer' || type.kind === 'buffer' || isOverrideSized(type) || !isHostShareable(type))
    throw refuse('the type cannot be shared with the host')
  if (containsAtomic(type)) throw refuse('it contains atomics')
  if (name === 'bufferArrayView' && hasFixedFootprint(type)) throw refuse('it has no runtime-sized array')
}

function bufferOperand(scope: ExpressionScope, name: string, node: ExpressionNode): PointerOperand {
  const value = scope.value(scope.expression(node))
  if (value.kind !== 'pointer' || value.type.store.kind !== 'buffer')
    throw scope.error(node.at, `${name} takes a pointer to a buffer, not ${typeName(value.type)}`)
  return value
}

/** Checks that constant offsets and sizes of a view are aligned and fit into the buffer. */
function checkView(
  scope: ExpressionScope,
  { place, type: pointer }: PointerOperand,
  type: Type,
  offset: ValueOperand,
  size: ValueOperand | undefined,
): void {
  const { module } = scope
  // What does not depend on overrides is checked here even if they have no values.
  const wrong = ({ at }: ValueOperand, text: string) => scope.rejectValue(at, text, false)
  const buffer = place.type as BufferType
  const isOverride = isOverrideSized(pointer.store) || module.isOverrideSized(rootOf(place))
  const least = leastViewSize(type)
  const limit = (module.isSymbolic && isOverride ? undefined : buffer.length) ?? 2 ** 32 - 1
  const start = offset.kind === 'constant' ? Number(offset.value ?? 0) : 0
  if (start < 0) wrong(offset, `the offset ${start} of the view is below 0`)
  if (start % alignOf(type) !== 0)
    wrong(
      offset,
      `the offset ${start} is not a multiple of ${alignOf(type)}, the alignment of ${typeName(type)}`,
    )
  if (start + least > limit) {
    wrong(offset, `a view of ${least} bytes from byte ${start} is outside ${typeName(buffer)}`)
  }
  module.noteView(moduleVariableOf(place)!, start + least)
  if (size?.kind !== 'constant' || size.value === undefined) return
  const bytes = Number(size.value)
  const { offset: before, stride } = runtimeArrayOf(type)!
  if (bytes < before + stride)
    wrong(size, `a view of ${bytes} bytes has no room for an element of ${typeName(type)}`)
  if ((bytes - before) % stride !== 0)
    wrong(size, `the size ${bytes} of the view is not a whole number of elements of ${typeName(type)}`)
  if (start + bytes > limit)
    wrong(size, `a view of ${bytes} bytes from byte ${start} is outside ${typeName(buffer)}`)
}
