import type { Expression } from '../ir.ts'
import { i32Type } from '../types.ts'
import { type CxxExpression, cast, simple } from './cxx-expression.ts'
import type { FunctionWriter } from './function-writer.ts'

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
