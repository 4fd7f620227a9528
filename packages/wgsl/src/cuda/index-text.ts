import type { Expression, IndexPlace } from '../ir.ts'
import { partProperty } from '../type-property.ts'
import { i32Type } from '../types.ts'
import { type CxxExpression, call, cast, operand, primary, simple } from './cxx-expression.ts'
import type { FunctionWriter } from './function-writer.ts'
import { isComposite } from './type-text.ts'

type Indexed = IndexPlace | Extract<Expression, { kind: 'index' }>

/** The value of an integer literal that can be an index. */
export function literalInteger(e: Expression): number | undefined {
  return e.kind === 'literal' && typeof e.value === 'number' && e.value >= 0 ? e.value : undefined
}

/** The text of the index as `unsigned`. */
export function unsignedText(writer: FunctionWriter, index: Expression): CxxExpression {
  if (index.kind === 'literal') return simple(`${Number(index.value) >>> 0}u`)
  const text = writer.value(index)
  return index.type === i32Type ? cast('unsigned', text) : text
}

/** The element of an array or a matrix: `at` is the text of the index, which is kept in bounds. */
export function elementAt({ context }: FunctionWriter, e: Indexed, base: CxxExpression, at: string) {
  const { type } = e.base
  if (containsStructures(type)) return call(context.names.prelude('hidden_element_at'), [base, at])
  if (type.kind === 'array' && type.length === undefined && isComposite(e.type))
    return call(context.names.prelude('element_at'), [`(${base.text})`, `(${at})`])
  return primary(`${operand(base)}[${at}]`)
}

const containsStructures = partProperty((type) => type.kind === 'struct')
