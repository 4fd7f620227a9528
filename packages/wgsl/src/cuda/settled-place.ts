import type { Expression, IndexPlace, Place } from '../ir.ts'
import { operandsOf, withOperands } from '../walk.ts'
import { type FunctionWriter, isFixed } from './function-writer.ts'

/** The place with its indices evaluated now, in order, so that later code cannot change them. */
export function settled(writer: FunctionWriter, place: Place): Place {
  const result = withOperands(place, (operand, role) => settledValue(writer, operand, role))
  let [copy, original] = [result, place]
  while (copy.kind !== 'variable' && copy.kind !== 'deref') {
    if (copy.kind === 'index-place') writer.context.ranges.adopt(copy, original as IndexPlace)
    copy = copy.base
    original = (original as typeof copy & { base: Place }).base
  }
  return result
}

/**
 * The place, settled if an expression that is evaluated after it writes memory and its indices may depend on
 * memory.
 */
export function settledBefore(writer: FunctionWriter, place: Place, after: readonly Expression[]): Place {
  const { effects } = writer.context
  const mayChange = operandsOf(place).some((e) => effects.reads(e) || effects.writes(e))
  return mayChange && after.some((e) => effects.writes(e)) ? settled(writer, place) : place
}

/**
 * Whether evaluating an operand of the place writes memory; the order of evaluation must then not be left to
 * C++.
 */
export function hasWritingOperand(writer: FunctionWriter, place: Place): boolean {
  return operandsOf(place).some((e) => writer.context.effects.writes(e))
}

/** The expression as a constant that no later statement can change. */
function settledValue(writer: FunctionWriter, e: Expression, name: string): Expression {
  if (isFixed(e)) return e
  const type = e.type
  const value: Expression = {
    kind: 'value',
    value: { kind: 'let-value', id: writer.context.nextTemporaryId++, name, type, loc: e.loc },
    type,
    loc: e.loc,
  }
  const text = writer.initial(type, e)
  writer.line(`${writer.declaration(type, writer.value(value).text, text, true)};`)
  return value
}
