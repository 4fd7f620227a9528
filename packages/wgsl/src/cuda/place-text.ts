import type { IndexPlace, LocalVariable, ModuleVariable, Place, Type } from '../ir.ts'
import { sizeOf } from '../layout.ts'
import { elementCount, u32Type } from '../types.ts'
import { moduleVariableOf, rootOf } from '../walk.ts'
import { type CxxExpression, call, member, operand, operation, primary, simple } from './cxx-expression.ts'
import { type FunctionWriter, viewName } from './function-writer.ts'
import { elementAt, literalInteger, unsignedText } from './index-text.ts'
import { hasWritingOperand, settled } from './settled-place.ts'
import { swizzledParts } from './swizzle-text.ts'
import { elementText, isComposite, runtimeTail, zeroText } from './type-text.ts'
import { type ViewText, viewedText, viewLengthText, viewText } from './view-text.ts'

/** A place as a C++ lvalue. */
export interface PlaceText {
  readonly value: CxxExpression
  /** Conditions, in order, under which the access may happen at all. */
  readonly guards: readonly string[]
  /** Set for a component of a vector in registers with a dynamic index; `value` is then the vector. */
  readonly component?: CxxExpression | undefined
}

const components = ['x', 'y', 'z', 'w'] as const

/** The name of component `i`. */
export function componentName(i: number): string {
  return components[i]!
}

/** The lvalue of a place, with its indices kept in bounds according to the options. */
export function placeText(writer: FunctionWriter, place: Place): PlaceText {
  return lvalueText(writer, place, false)
}

/** Like `placeText`, for the target of an assignment: nothing is stored outside a runtime-sized array. */
export function targetText(writer: FunctionWriter, place: Place): PlaceText {
  return lvalueText(writer, place, true)
}

function lvalueText(writer: FunctionWriter, place: Place, isTarget: boolean): PlaceText {
  const guards: string[] = []
  const variable = moduleVariableOf(place)
  const storage = variable?.space === 'storage' ? variable : undefined
  const state: Walk = {
    writer,
    isTarget,
    guards,
    storage,
    firstIndex: undefined,
    view: undefined,
    component: undefined,
  }
  const value = walkPlaceText(state, hasWritingOperand(writer, place) ? settled(writer, place) : place)
  const { component } = state
  if (component === undefined && storage !== undefined && writer.context.bounds === 'trap') {
    const { names } = writer.context
    const at =
      place.kind === 'variable'
        ? '0ull'
        : `(unsigned long long)((const char*)&${operand(value)} - (const char*)${names.of(storage)})`
    guards.push(
      `${viewName(names, storage)}.access(${at}, ${sizeOf(place.type)}ull, ${state.firstIndex ?? '0u'})`,
    )
  }
  return { value, guards, component }
}

interface Walk {
  readonly writer: FunctionWriter
  readonly isTarget: boolean
  readonly guards: string[]
  readonly storage: ModuleVariable | undefined
  firstIndex: string | undefined
  /** The view that contains the place, once it has been reached. */
  view: ViewText | undefined
  component: CxxExpression | undefined
}

function walkPlaceText(state: Walk, place: Place): CxxExpression {
  const { writer } = state
  const { names } = writer.context
  switch (place.kind) {
    case 'variable': {
      const variable = place.variable
      if (variable.kind === 'local-variable') return simple(names.of(variable))
      const name = writer.uses(variable)
      return pointerName(writer, variable) === undefined ? simple(name) : operation(`*${name}`)
    }
    case 'deref':
      return simple(names.of(place.pointer))
    case 'member-place': {
      const base = walkPlaceText(state, place.base)
      const tail = runtimeTail(place.base.type)
      if (state.view !== undefined && tail?.index === place.member.index)
        return viewedText(writer, state.view, tail.type, tail.offset)
      if (tail !== undefined && tail.index === place.member.index && tail.type.kind === 'array') {
        const type = elementText(tail.type.element, names)
        return call(`${names.prelude('tail')}<${type}>`, [names.of(state.storage!), `${tail.offset}u`])
      }
      const pointer = place.base.kind === 'variable' ? pointerName(writer, place.base.variable) : undefined
      const name = names.member(place.member.name)
      return pointer === undefined ? member(base, name) : primary(`${pointer}->${name}`)
    }
    case 'component-place':
      return member(walkPlaceText(state, place.base), componentName(place.component))
    case 'index-place':
      return indexText(state, place)
    case 'view-place':
      state.view = viewText(writer, place)
      return viewedText(writer, state.view, place.type)
  }
}

/** The name of the pointer to a whole binding. */
function pointerName(writer: FunctionWriter, v: ModuleVariable | LocalVariable): string | undefined {
  if (v.kind === 'local-variable' || (v.space !== 'storage' && v.space !== 'uniform')) return undefined
  if (writer.context.uniformCopies.has(v) || (v.type.kind === 'array' && v.type.length === undefined))
    return undefined
  return writer.context.names.of(v)
}

function indexText(state: Walk, place: IndexPlace): CxxExpression {
  const { writer } = state
  const base = walkPlaceText(state, place.base)
  const type = place.base.type
  const element = (index: string) => elementAt(writer, place, base, index)
  if (type.kind === 'vector') {
    if (inRegisters(place)) {
      state.component = unsignedText(writer, place.index)
      return base
    }
    return call(writer.context.names.prelude('component_of'), [base, fixedIndex(state, place, type.size)])
  }
  const length = elementCount(type)
  if (length !== undefined) return element(arrangedIndex(state, place, length))
  const found = element(runtimeIndex(state, place))
  return place.type.kind === 'vector' && place.type.size === 3 ? member(found, 'value') : found
}

/** An index into `length` elements; for a swizzled array, the position of the element. */
function arrangedIndex(state: Walk, place: IndexPlace, length: number): string {
  const { swizzles, names, bounds, ranges } = state.writer.context
  const variable = place.base.kind === 'variable' ? moduleVariableOf(place.base) : undefined
  const row = variable && swizzles.get(variable)
  if (row === undefined) return fixedIndex(state, place, length)
  const swizzled = `${names.prelude('swizzled')}<${row}u>`
  const isInside = bounds === 'unchecked' || ranges.isInside(place)
  const parts = isInside ? swizzledParts(state.writer, place.index, row) : undefined
  if (parts === undefined) return `${swizzled}(${fixedIndex(state, place, length)})`
  return `${swizzled}(${parts.moved.text}) + ${operand(parts.kept)}`
}

/** Whether the compiler can keep the memory in registers, where a component is selected, not addressed. */
function inRegisters(place: Place): boolean {
  const root = rootOf(place)
  return root.kind === 'deref' || root.variable.kind === 'local-variable' || root.variable.space === 'private'
}

/** An index for use in both a condition and the access: stored in a temporary unless it is simple. */
function checkedIndex(state: Walk, index: CxxExpression): string {
  return index.form === 'simple' ? index.text : state.writer.temporary(u32Type, index.text)
}

/** An index into `length` elements, kept in bounds in every mode except `unchecked`. */
function fixedIndex(state: Walk, place: IndexPlace, length: number): string {
  const { bounds, ranges, names } = state.writer.context
  const known = literalInteger(place.index)
  if (known !== undefined) return `${Math.min(known, length - 1)}u`
  const unsigned = unsignedText(state.writer, place.index)
  const isFree = bounds === 'unchecked' || ranges.isInside(place)
  if (bounds === 'trap' && state.storage !== undefined) {
    // Also an index that is certainly inside: the guard of the access repeats the text of the place.
    const index = checkedIndex(state, unsigned)
    if (isFree) return index
    state.firstIndex ??= index
    state.guards.push(`${viewName(names, state.storage)}.index(${index}, ${length}u)`)
    return index
  }
  if (isFree) return unsigned.text
  return `${names.prelude('min')}(${unsigned.text}, ${length - 1}u)`
}

function runtimeIndex(state: Walk, place: IndexPlace): string {
  const { writer, storage, view } = state
  const { bounds, names } = writer.context
  const unsigned = unsignedText(writer, place.index)
  if (bounds === 'unchecked') return unsigned.text
  const length = view === undefined ? writer.lengthOf(storage!) : operand(viewLengthText(view))
  if (bounds === 'trap' && storage !== undefined) {
    const index = checkedIndex(state, unsigned)
    state.firstIndex ??= index
    // The binding may go on behind the last element.
    state.guards.push(`${viewName(names, storage)}.index(${index}, ${length})`)
    return index
  }
  if (view === undefined && state.isTarget) {
    const index = checkedIndex(state, unsigned)
    state.guards.push(`${index} < ${length}`)
    return index
  }
  return `${names.prelude('min')}(${unsigned.text}, ${length} - 1u)`
}

/** The value of a place. */
export function loadText(writer: FunctionWriter, place: Place): CxxExpression {
  const { value, guards, component } = placeText(writer, place)
  if (component !== undefined) return call(writer.context.names.prelude('component'), [value, component])
  return guarded(guards, value, place.type, writer)
}

/** A value under guards; zero if they do not hold. */
export function guarded(
  guards: readonly string[],
  value: CxxExpression,
  type: Type,
  writer: FunctionWriter,
): CxxExpression {
  if (guards.length === 0) return value
  const text = `${guards.join(' && ')} ? ${operand(value)} : ${zeroText(type, writer.context.names)}`
  return isComposite(type) ? primary(writer.own(type, text)) : operation(text)
}
