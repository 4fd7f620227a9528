import type { Expression, Place, Type, VectorType } from '../ir.ts'
import { scalarType, typeName, u32Type, vectorType } from '../types.ts'
import { dereferenced, indexOperand, lowerIndex, lowerMember, swizzleComponents } from './access.ts'
import type { ExpressionNode, IndexNode, MemberNode } from './ast.ts'
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
  readonly kind: 'swizzle'
  /** The vector, or, if `components` is empty, one component of it with a dynamic index. */
  readonly target: ReferenceOperand
  readonly components: readonly number[]
  readonly type: Type
}

/** The left side of an assignment. `v.xy`, `v.xy.yx`, `v.xy[1]` and `v.xy[i]` are swizzles. */
export function assignmentTarget(f: FunctionScope, node: ExpressionNode): Operand | SwizzleTarget {
  if (node.kind !== 'index' && node.kind !== 'member') return f.expression(node)
  const inner = assignmentTarget(f, node.base)
  if (inner.kind === 'swizzle') {
    if (node.kind === 'index') return swizzleElement(f, inner, node)
    if (inner.type.kind !== 'vector')
      throw f.error(node.nameAt, `${typeName(inner.type)} has no components '${node.name}'`)
    return swizzle(f, inner.target, inner.type, inner.components, node)
  }
  const base = dereferenced(inner)
  if (node.kind === 'index') return lowerIndex(f, node, base)
  if (base.kind !== 'reference' || base.type.kind !== 'vector' || node.name.length < 2)
    return lowerMember(f, node, base)
  return swizzle(f, writable(f, base, node.at), base.type, undefined, node)
}

/** Components of a vector, or of those of its components that a swizzle has selected. */
function swizzle(
  f: FunctionScope,
  target: ReferenceOperand,
  of: VectorType,
  selected: readonly number[] | undefined,
  { name, nameAt }: MemberNode,
): SwizzleTarget {
  const components = swizzleComponents(f, of, name, nameAt).map((c) => selected?.[c] ?? c)
  const type = components.length === 1 ? scalarType(of.scalar) : vectorType(components.length as 2, of.scalar)
  return { kind: 'swizzle', target, components, type }
}

/** One component of a swizzle, selected by an index. */
function swizzleElement(f: FunctionScope, inner: SwizzleTarget, node: IndexNode): SwizzleTarget {
  const { target, components, type: vector } = inner
  if (vector.kind !== 'vector') throw f.error(node.at, `${typeName(vector)} has no elements`)
  const type = scalarType(vector.scalar)
  const index = indexOperand(f, node.index)
  const loc = f.loc(node.at)
  if (index.kind === 'constant' && index.value !== undefined) {
    const component = components[Number(index.value)]
    if (component === undefined) {
      f.rejectValue(index.at, `the index ${index.value} is outside ${typeName(vector)}`, index.override)
    }
    return { ...inner, components: [component ?? 0], type }
  }
  // A vector of the swizzle's component indices maps the index to one in the whole vector.
  const args = components.map((value): Expression => ({ kind: 'literal', value, type: u32Type, loc }))
  const table: Expression = { kind: 'construct', args, type: vectorType(args.length as 2, 'u32'), loc }
  const mapped: Expression = { kind: 'index', base: table, index: f.expressionOf(index), type: u32Type, loc }
  const place: Place = { kind: 'index-place', base: target.place, index: mapped, type, loc }
  return { ...inner, target: { ...target, type, place }, components: [], type }
}
