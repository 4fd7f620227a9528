import type { Expression, Place, Type, VectorType } from '../ir.ts'
import { scalarType, typeName, u32Type, vectorType } from '../types.ts'
import { indexOperand, pointee, swizzleComponents } from './access.ts'
import type { ExpressionNode, IndexNode } from './ast.ts'
import type { FunctionScope } from './function-scope.ts'
import type { Operand, ReferenceOperand } from './operand.ts'
import { isConstructible } from './type-structure.ts'

/** The memory that an assignment writes to. */
export function writable(f: FunctionScope, target: Operand, at: number): ReferenceOperand {
  if (target.kind !== 'reference') throw f.error(at, 'only variables can be assigned to, not values')
  if (target.access === 'read')
    throw f.error(at, `a read-only ${target.space} variable cannot be assigned to`)
  if (!isConstructible(target.type))
    throw f.error(at, `a value of type ${typeName(target.type)} cannot be stored`)
  return target
}

/** Components of a vector that an assignment writes to. */
export interface SwizzleTarget {
  /** The vector, or, if `components` is empty, one component of it with a dynamic index. */
  readonly target: ReferenceOperand
  readonly components: readonly number[]
  readonly type: Type
}

/** `v.xy` on the left of an assignment; also `v.xy.yx`, `v.xy[1]` and `v.xy[i]`. */
export function swizzleTarget(f: FunctionScope, node: ExpressionNode): SwizzleTarget | undefined {
  if (node.kind === 'index') return swizzleElement(f, node)
  if (node.kind !== 'member') return undefined
  const inner = swizzleTarget(f, node.base)
  if (inner === undefined && node.name.length < 2) return undefined
  const base = inner?.target ?? referenceOf(f.expression(node.base))
  if (base === undefined || (inner ?? base).type.kind !== 'vector') {
    if (inner !== undefined)
      throw f.error(node.nameAt, `${typeName(inner.type)} has no components '${node.name}'`)
    return undefined
  }
  const of = (inner ?? base).type as VectorType
  const components = swizzleComponents(f, of, node.name, node.nameAt).map((c) => inner?.components[c] ?? c)
  const type = components.length === 1 ? scalarType(of.scalar) : vectorType(components.length as 2, of.scalar)
  return { target: inner?.target ?? writable(f, base, node.at), components, type }
}

/** One component of a swizzle, selected by an index. */
function swizzleElement(f: FunctionScope, node: IndexNode): SwizzleTarget | undefined {
  const inner = swizzleTarget(f, node.base)
  if (inner?.type.kind !== 'vector') {
    if (inner !== undefined) throw f.error(node.at, `${typeName(inner.type)} has no elements`)
    return undefined
  }
  const { target, components, type: vector } = inner
  const type = scalarType(vector.scalar)
  const index = indexOperand(f, node.index)
  const loc = f.loc(node.at)
  if (index.kind === 'constant' && index.value !== undefined) {
    const component = components[Number(index.value)]
    if (component === undefined) {
      f.rejectValue(index.at, `the index ${index.value} is outside ${typeName(vector)}`, index.override)
    }
    return { target, components: [component ?? 0], type }
  }
  // A vector of the swizzle's component indices maps the index to one in the whole vector.
  const args = components.map((value): Expression => ({ kind: 'literal', value, type: u32Type, loc }))
  const table: Expression = { kind: 'construct', args, type: vectorType(args.length as 2, 'u32'), loc }
  const mapped: Expression = { kind: 'index', base: table, index: f.expressionOf(index), type: u32Type, loc }
  const place: Place = { kind: 'index-place', base: target.place, index: mapped, type, loc }
  return { target: { ...target, type, place }, components: [], type }
}

/** The memory that an operand refers to or points to. */
function referenceOf(operand: Operand): ReferenceOperand | undefined {
  if (operand.kind === 'pointer') return pointee(operand.type, operand.place, operand.at)
  return operand.kind === 'reference' ? operand : undefined
}
