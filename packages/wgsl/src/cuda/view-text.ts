import type { BufferType, Type, ViewPlace } from '../ir.ts'
import { alignOf, leastViewSize, runtimeArrayOf } from '../layout.ts'
import { boolType, u32Type } from '../types.ts'
import { moduleVariableOf } from '../walk.ts'
import { type CxxExpression, call, operation } from './cxx-expression.ts'
import { type FunctionWriter, viewName } from './function-writer.ts'
import { literalInteger, unsignedText } from './index-text.ts'
import { elementText, typeText } from './type-text.ts'

/** A view of a buffer whose position is evaluated, so that it can be used repeatedly. */
export interface ViewText {
  readonly view: ViewPlace
  readonly offset: string
  /** The byte length of the view, up to the end of its runtime-sized array. */
  readonly seen: string
}

/**
 * Evaluates the position of a view: its offset, rounded down to the alignment. A view that does not fit into
 * its buffer is moved to the start of the buffer and has the minimum length of its type; with bounds: 'trap'
 * and a buffer in storage it is reported, and moved to the end, where nothing is accessed.
 */
export function viewText(writer: FunctionWriter, view: ViewPlace): ViewText {
  const length = byteLengthText(writer, view)
  const rest = (offset: string) => (offset === '0u' ? length : `${length} - ${offset}`)
  const known = literalInteger(view.offset)
  // A constant offset was checked against the length of the buffer, or is included in the minimum length of
  // the binding.
  if (known !== undefined && view.size === undefined)
    return { view, offset: `${known}u`, seen: rest(`${known}u`) }
  const align = alignOf(view.type)
  const least = leastViewSize(view.type)
  const { text } = unsignedText(writer, view.offset)
  const offset = writer.temporary(u32Type, `(${text}) & ${2 ** 32 - align}u`)
  const { bounds, names } = writer.context
  const max = (text: string) => `${names.prelude('max')}(${text}, ${least}u)`
  const size = view.size && writer.temporary(u32Type, max(unsignedText(writer, view.size).text))
  if (bounds === 'unchecked') return { view, offset, seen: size ?? rest(offset) }
  const needed = size ?? `${least}u`
  const inside = `${needed} <= ${length} && ${offset} <= ${length} - ${needed}`
  const variable = moduleVariableOf(view)!
  const isReported = bounds === 'trap' && variable.space === 'storage'
  if (isReported) writer.uses(variable)
  const orReport = isReported ? ` || ${viewName(names, variable)}.report(0u)` : ''
  const fits = writer.temporary(boolType, inside + orReport)
  const start = writer.temporary(u32Type, `${fits} ? ${offset} : ${isReported ? length : '0u'}`)
  return { view, offset: start, seen: size === undefined ? rest(start) : `(${fits} ? ${size} : ${least}u)` }
}

/**
 * A `type` at `before` bytes after the start of the view: an lvalue, or for a runtime-sized array the pointer
 * to its elements.
 */
export function viewedText(
  writer: FunctionWriter,
  { view, offset }: ViewText,
  type: Type,
  before = 0,
): CxxExpression {
  const { names } = writer.context
  const variable = moduleVariableOf(view)!
  const name = writer.uses(variable)
  const base = variable.space === 'workgroup' ? `&${name}` : name
  const tail = names.prelude('tail')
  // Two steps: a sum of 32 bits could wrap around, and with bounds: 'unchecked' the offset may be any number.
  const [from, position] = before === 0 ? [base, offset] : [`${tail}<char>(${base}, ${offset})`, `${before}u`]
  const at = `${names.prelude('hidden')}(${position})`
  return type.kind === 'array' && type.length === undefined
    ? call(`${tail}<${elementText(type.element, names)}>`, [from, at])
    : operation(`*${tail}<${typeText(type, names)}>(${from}, ${at})`)
}

/**
 * The number of elements of the runtime-sized array in a view; at least 1 if the view is inside its buffer.
 */
export function viewLengthText({ view, seen }: ViewText): CxxExpression {
  const { offset: before, stride } = runtimeArrayOf(view.type)!
  const elements = before === 0 ? seen : `${seen} - ${before}u`
  return operation(`(${elements}) / ${stride}u`)
}

/** The byte length of the buffer that contains a view. */
function byteLengthText(writer: FunctionWriter, view: ViewPlace): string {
  const { length } = view.base.type as BufferType
  return length === undefined ? writer.lengthOf(moduleVariableOf(view)!) : `${length}u`
}
