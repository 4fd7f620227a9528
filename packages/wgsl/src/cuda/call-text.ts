import type { Call, Expression } from '../ir.ts'
import { type CxxExpression, call, primary } from './cxx-expression.ts'
import { type FunctionWriter, lengthName, viewName } from './function-writer.ts'
import { stopWordName } from './kernel.ts'
import { passedVariables } from './module-memory.ts'
import { placeText } from './place-text.ts'
import { settledBefore } from './settled-place.ts'
import { isByReference } from './type-text.ts'

/** A call of a user function: its own arguments, then the module variables that it and its callees use. */
export function callText(writer: FunctionWriter, e: Call): CxxExpression {
  const { context } = writer
  const args = writer.ordered(
    e.args.map((a, i) => ({
      expression: a,
      text: () =>
        a.kind === 'address-of'
          ? placeText(writer, settledBefore(writer, a.place, e.args.slice(i + 1))).value
          : isByReference(a.type) && !isNamed(a)
            ? copyText(writer, a)
            : writer.value(a),
    })),
  )
  const needs = context.needs.get(e.function)!
  for (const variable of needs.lengths) writer.lengthOf(variable)
  if (needs.usesLanes) writer.needs.usesLanes = true
  const passed = passedVariables(needs).flatMap((v) => {
    const name = writer.uses(v)
    const parts = [name]
    if (needs.lengths.has(v)) parts.push(lengthName(context.names, v))
    if (v.space === 'storage' && context.bounds === 'trap') parts.push(viewName(context.names, v))
    return parts
  })
  if (needs.usesLanes) passed.push('lanes')
  if (needs.usesStopWord) {
    writer.needs.usesStopWord = true
    passed.push(stopWordName)
  }
  return call(context.names.of(e.function), [...args, ...passed])
}

/** An argument that is passed by reference, as a new object. */
function copyText(writer: FunctionWriter, e: Expression): CxxExpression {
  const text = writer.initial(e.type, e)
  const owned = writer.own(e.type, text)
  return owned === text && e.kind === 'load' ? call(writer.type(e.type), [text]) : primary(owned)
}

/** Whether C++ has the value under a name. */
function isNamed(e: Expression): boolean {
  return e.kind === 'value' || e.kind === 'constant' || (e.kind === 'member' && isNamed(e.base))
}
