import type { Expression, IndexPlace, LocalVariable, ModuleVariable, Place, Type } from '../ir.ts'
import { sizeOf } from '../layout.ts'
import { i32Type, u32Type } from '../types.ts'
import { rootOf } from '../walk.ts'
import { literalInteger, valueText } from './expression-text.ts'
import { type FunctionWriter, isSimple, unwrapped, viewName } from './function-writer.ts'
import { hasWritingOperand, settled } from './settled-place.ts'
import { elementText, runtimeTail, zeroText } from './type-text.ts'
import { type ViewText, viewedText, viewLengthText, viewText } from './view-text.ts'

/** What is done with a place. */
export type PlaceUse = 'load' | 'store' | 'atomic' | 'address'

/** A place as a C++ lvalue. */
export interface PlaceText {
  readonly text: string
  /** Conditions, in order, under which the access may happen at all. */
  readonly guards: readonly string[]
  /** Set for a component of a vector in registers by an index known at run time; `text` is then the vector. */
  readonly component?: string
}

const components = ['x', 'y', 'z', 'w'] as const

/** The name of component `i`. */
export function componentName(i: number): string {
  return components[i]!
}

/** The lvalue of a place, with its indices brought inside bounds as the options ask. */
export function placeText(writer: FunctionWriter, place: Place, use: PlaceUse): PlaceText {
  const guards: string[] = []
  const root = rootOf(place)
  const storage =
    root.kind === 'variable' && root.variable.kind === 'module-variable' && root.variable.space === 'storage'
      ? root.variable
      : undefined
  const state: Walk = { writer, use, guards, storage, firstIndex: undefined, view: undefined }
  const text = walkPlaceText(state, hasWritingOperand(writer, place) ? settled(writer, place) : place)
  if (typeof text !== 'string') return { text: text.vector, guards, component: text.index }
  if (storage !== undefined && writer.context.bounds === 'trap') {
    const base = writer.context.names.of(storage)
    const at =
      place.kind === 'variable'
        ? '0ull'
        : `(unsigned long long)((const char*)&${text} - (const char*)${base})`
    guards.push(
      `${viewName(writer.context.names, storage)}.access(${at}, ${sizeOf(place.type)}ull, ${state.firstIndex ?? '0u'})`,
    )
  }
  return { text, guards }
}

interface Walk {
  readonly writer: FunctionWriter
  readonly use: PlaceUse
  readonly guards: string[]
  readonly storage: ModuleVariable | undefined
  firstIndex: string | undefined
  /** The view in which the place lies, once it is reached. */
  view: ViewText | undefined
}

type Walked = string | { readonly vector: string; readonly index: string }

function walkPlaceText(state: Walk, place: Place): Walked {
  const { writer } = state
  const { names } = writer.context
  switch (place.kind) {
    case 'variable': {
      const variable = place.variable
      if (variable.kind === 'local-variable') return names.of(variable)
      const name = writer.uses(variable)
      return pointerName(writer, variable) === undefined ? name : `(*${name})`
    }
    case 'deref':
      return names.of(place.pointer)
    case 'member-place': {
      const base = walkPlaceText(state, place.base) as string
      const tail = runtimeTail(place.base.type)
      if (state.view !== undefined && tail?.index === place.member.index)
        return viewedText(writer, state.view, tail.type, tail.offset)
      if (tail !== undefined && tail.index === place.member.index && tail.type.kind === 'array')
        return `tail<${elementText(tail.type.element, names)}>(${names.of(state.storage!)}, ${tail.offset}u)`
      const pointer = place.base.kind === 'variable' ? pointerName(writer, place.base.variable) : undefined
      const member = names.member(place.member.name)
      return pointer === undefined ? `${base}.${member}` : `${pointer}->${member}`
    }
    case 'component-place':
      return `${walkPlaceText(state, place.base) as string}.${componentName(place.component)}`
    case 'index-place':
      return indexText(state, place)
    case 'view-place':
      state.view = viewText(writer, place)
      return viewedText(writer, state.view, place.type)
  }
}

/** The name of the pointer through which a binding is reached as a whole. */
function pointerName(writer: FunctionWriter, v: ModuleVariable | LocalVariable): string | undefined {
  if (v.kind === 'local-variable' || (v.space !== 'storage' && v.space !== 'uniform')) return undefined
  if (writer.context.uniformCopies.has(v) || (v.type.kind === 'array' && v.type.length === undefined))
    return undefined
  return writer.context.names.of(v)
}

function indexText(state: Walk, place: IndexPlace): Walked {
  const { writer } = state
  const base = walkPlaceText(state, place.base) as string
  const baseType = place.base.type
  if (baseType.kind === 'vector') {
    const known = literalInteger(place.index)
    if (known !== undefined) return `${base}.${componentName(Math.min(known, baseType.size - 1))}`
    if (inRegisters(place)) return { vector: base, index: unsignedText(writer, place.index) }
    return `component_of(${base}, ${fixedIndex(state, place, baseType.size)})`
  }
  if (baseType.kind === 'matrix') return `${base}[${fixedIndex(state, place, baseType.columns)}]`
  if (baseType.kind !== 'array') throw new TypeError(`${baseType.kind} takes no index`)
  if (baseType.length !== undefined) return `${base}[${fixedIndex(state, place, baseType.length)}]`
  const text = `${base}[${runtimeIndex(state, place)}]`
  return baseType.element.kind === 'vector' && baseType.element.size === 3 ? `${text}.value` : text
}

/** Memory that the compiler can keep in registers: a dynamic component access there is a choice, not an address. */
function inRegisters(place: Place): boolean {
  const root = rootOf(place)
  return root.kind === 'deref' || root.variable.kind === 'local-variable' || root.variable.space === 'private'
}

/** The index as `unsigned`, evaluated. */
export function unsignedText(writer: FunctionWriter, index: Expression): string {
  return indexTexts(writer, index).unsigned
}

/** An index, evaluated: as `unsigned`, and without the cast that an index known to be inside does not need. */
function indexTexts(writer: FunctionWriter, index: Expression): { unsigned: string; plain: string } {
  const text = unwrapped(valueText(writer, index))
  const both = (t: string) => ({ unsigned: t, plain: t })
  if (index.kind === 'literal') return both(`${Number(index.value) >>> 0}u`)
  if (index.type !== i32Type) return both(text)
  return { unsigned: `(unsigned)${isSimple(text) ? text : `(${text})`}`, plain: text }
}

/** An index into `length` elements, which is then inside in every mode but `unchecked`. */
function fixedIndex(state: Walk, place: IndexPlace, length: number): string {
  const { writer } = state
  const known = literalInteger(place.index)
  if (known !== undefined) return `${Math.min(known, length - 1)}u`
  const { unsigned: text, plain } = indexTexts(writer, place.index)
  if (writer.context.bounds === 'unchecked' || writer.context.ranges.isInside(place)) {
    state.firstIndex ??= writer.context.bounds === 'trap' ? undefined : text
    return plain
  }
  if (writer.context.bounds === 'trap' && state.storage !== undefined) {
    const index = isSimple(text) ? text : writer.temporary(u32Type, text)
    state.firstIndex ??= index
    state.guards.push(`${viewName(writer.context.names, state.storage)}.index(${index}, ${length}u)`)
    return index
  }
  return `min(${text}, ${length - 1}u)`
}

function runtimeIndex(state: Walk, place: IndexPlace): string {
  const { writer, storage } = state
  const { bounds, ranges } = writer.context
  const { unsigned: text, plain } = indexTexts(writer, place.index)
  if (bounds === 'unchecked') return text
  if (bounds === 'trap' && storage !== undefined) {
    const index = isSimple(text) ? text : writer.temporary(u32Type, text)
    state.firstIndex ??= index
    if (state.view?.view.size !== undefined)
      state.guards.push(
        `${viewName(writer.context.names, storage)}.index(${index}, ${viewLengthText(state.view)})`,
      )
    return index
  }
  if (state.view !== undefined) return `min(${text}, ${viewLengthText(state.view)} - 1u)`
  if (ranges.isInside(place)) return plain
  const length = writer.lengthOf(storage!)
  if (state.use === 'store') {
    const index = isSimple(text) ? text : writer.temporary(u32Type, text)
    state.guards.push(`${index} < ${length}`)
    return index
  }
  return `min(${text}, ${length} - 1u)`
}

/** The value of a place. */
export function loadText(writer: FunctionWriter, place: Place): string {
  const { text, guards, component } = placeText(writer, place, 'load')
  if (component !== undefined) return `component(${text}, ${component})`
  return guarded(guards, text, place.type, writer)
}

/** A value under guards; zero where they do not hold. */
export function guarded(guards: readonly string[], text: string, type: Type, writer: FunctionWriter): string {
  return guards.length === 0
    ? text
    : `(${guards.join(' && ')} ? ${text} : ${zeroText(type, writer.context.names)})`
}
