import type { BufferType, ModuleVariable, Type, ViewPlace } from '../ir.ts'
import { alignOf, leastViewSize, runtimeArrayOf } from '../layout.ts'
import { u32Type } from '../types.ts'
import { rootOf } from '../walk.ts'
import { literalInteger } from './expression-text.ts'
import type { FunctionWriter } from './function-writer.ts'
import { unsignedText } from './place-text.ts'
import { elementText, typeText } from './type-text.ts'

/** A view of a buffer whose offset is evaluated, so that it can be named again. */
export interface ViewText {
  readonly view: ViewPlace
  readonly offset: string
}

/** Evaluates the offset of a view: rounded down to the alignment, and inside the buffer where nothing else checks that. */
export function viewText(writer: FunctionWriter, view: ViewPlace): ViewText {
  const known = literalInteger(view.offset)
  if (known !== undefined) return { view, offset: `${known}u` }
  const { bounds } = writer.context
  let text = unsignedText(writer, view.offset)
  if (bounds === 'clamp' || (bounds === 'trap' && bufferOf(view).space !== 'storage')) {
    const least = leastViewSize(view.type)
    const length = lengthOf(view)
    const last = length === undefined ? `${byteLengthText(writer, view)} - ${least}u` : `${length - least}u`
    text = `min(${text}, ${last})`
  }
  const align = alignOf(view.type)
  if (align > 1) text = `(${text}) & ${2 ** 32 - align}u`
  return { view, offset: writer.temporary(u32Type, text) }
}

/** A `type` that lies `before` bytes after the begin of the view: an lvalue, or of a runtime-sized array the pointer to its elements. */
export function viewedText(
  writer: FunctionWriter,
  { view, offset }: ViewText,
  type: Type,
  before = 0,
): string {
  const { names } = writer.context
  const variable = bufferOf(view)
  const name = writer.uses(variable)
  const base = variable.space === 'workgroup' ? `&${name}` : name
  const at =
    before === 0
      ? offset
      : /^\d+u$/.test(offset)
        ? `${Number.parseInt(offset, 10) + before}u`
        : `${offset} + ${before}u`
  return type.kind === 'array' && type.length === undefined
    ? `tail<${elementText(type.element, names)}>(${base}, ${at})`
    : `(*tail<${typeText(type, names)}>(${base}, ${at}))`
}

/** The number of elements of the runtime-sized array in a view; at least 1 where the view is inside its buffer. */
export function viewLengthText(writer: FunctionWriter, { view, offset }: ViewText): string {
  const { offset: before, stride } = runtimeArrayOf(view.type)!
  const length = lengthOf(view)
  const start = literalInteger(view.offset)
  if (length !== undefined && start !== undefined && view.size === undefined)
    return `${Math.floor((length - start - before) / stride)}u`
  const rest = `${byteLengthText(writer, view)} - ${offset}`
  const bytes =
    view.size === undefined
      ? rest
      : `min(${rest}, max(${unsignedText(writer, view.size)}, ${leastViewSize(view.type)}u))`
  const elements = before === 0 ? bytes : `${bytes} - ${before}u`
  return stride === 1 ? `(${elements})` : `((${elements}) / ${stride}u)`
}

/** The bytes of the buffer in which a view lies. */
function byteLengthText(writer: FunctionWriter, view: ViewPlace): string {
  const length = lengthOf(view)
  return length === undefined ? writer.lengthOf(bufferOf(view)) : `${length}u`
}

function lengthOf(view: ViewPlace): number | undefined {
  return (view.base.type as BufferType).length
}

function bufferOf(view: ViewPlace): ModuleVariable {
  const root = rootOf(view)
  if (root.kind === 'deref' || root.variable.kind !== 'module-variable')
    throw new TypeError('a view is one of a variable of the module')
  return root.variable
}
