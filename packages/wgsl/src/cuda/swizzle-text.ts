import type { Expression } from '../ir.ts'
import { u32Type } from '../types.ts'
import { type CxxExpression, operand, operation, simple } from './cxx-expression.ts'
import type { FunctionWriter } from './function-writer.ts'

/**
 * Splits an index into a swizzled array into a sum of `moved`, to which the swizzle applies, and `kept`, a
 * multiple of eight rows of at least eight elements, which it does not change. Constants and counters of
 * unrolled loops are then outside the swizzle and become part of an instruction's address. Undefined if an
 * operand has an effect.
 */
export function swizzledParts(
  writer: FunctionWriter,
  index: Expression,
  row: number,
): { moved: CxxExpression; kept: CxxExpression } | undefined {
  const { effects, forms } = writer.context
  if (index.type !== u32Type || effects.writes(index)) return undefined
  const period = 8 * Math.max(8, row)
  const isKept = (e: Expression) => {
    const form = forms.of(e)
    return (
      form !== undefined && [form.constant, ...form.terms.values()].every((value) => value % period === 0)
    )
  }
  const parts = addends(index)
  const sum = (chosen: readonly Expression[]) =>
    chosen.length === 0 ? simple('0u') : operation(chosen.map((e) => operand(writer.value(e))).join(' + '))
  return { moved: sum(parts.filter((e) => !isKept(e))), kept: sum(parts.filter(isKept)) }
}

/** The terms of a sum. */
function addends(e: Expression): Expression[] {
  return e.kind === 'binary' && e.operator === '+' && e.type === u32Type
    ? [...addends(e.left), ...addends(e.right)]
    : [e]
}
