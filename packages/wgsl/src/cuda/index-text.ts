import type { Expression } from '../ir.ts'
import { i32Type } from '../types.ts'
import { type CxxExpression, cast, simple } from './cxx-expression.ts'
import type { FunctionWriter } from './function-writer.ts'

/** The value of an integer literal that can be an index. */
export function literalInteger(e: Expression): number | undefined {
  return e.kind === 'literal' && typeof e.value === 'number' && e.value >= 0 ? e.value : undefined
}

/** The index as `unsigned`, evaluated. */
export function unsignedText(writer: FunctionWriter, index: Expression): CxxExpression {
  return indexTexts(writer, index).unsigned
}

/** An index, evaluated: as `unsigned`, and without the cast that an index known to be inside does not need. */
export function indexTexts(writer: FunctionWriter, index: Expression) {
  if (index.kind === 'literal') {
    const text = simple(`${Number(index.value) >>> 0}u`)
    return { unsigned: text, plain: text }
  }
  const plain = writer.value(index)
  return { unsigned: index.type === i32Type ? cast('unsigned', plain) : plain, plain }
}
