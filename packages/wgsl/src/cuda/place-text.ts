import type { Expression, IndexPlace, ModuleVariable, Place, Type } from '../ir.ts'
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
      text === `(*${base})` ? '0ull' : `(unsigned long long)((const char*)&${text} - (const char*)${base})`
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
      if (variable.space === 'private' || variable.space === 'workgroup') return name
      if (writer.context.uniformCopies.has(variable)) return name
      return variable.type.kind === 'array' && variable.type.length === undefined ? name : `(*${name})`
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
      return base.startsWith('(*') && isPlainDeref(base)
        ? `${base.slice(2, -1)}->${names.member(place.member.name)}`
        : `${base}.${names.member(place.member.name)}`
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

function isPlainDeref(text: string): boolean {
  return /^\(\*[A-Za-z0-9_]+\)$/.test(text)
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
  const text = unwrapped(valueText(writer, index))
  if (index.kind === 'literal') return `${Number(index.value) >>> 0}u`
  return index.type === i32Type ? `(unsigned)${isSimple(text) ? text : `(${text})`}` : text
}

/** An index into `length` elements, which is then inside in every mode but `unchecked`. */
function fixedIndex(state: Walk, place: IndexPlace, length: number): string {
  const { writer } = state
  const known = literalInteger(place.index)
  if (known !== undefined) return `${Math.min(known, length - 1)}u`
  const text = unsignedText(writer, place.index)
  if (writer.context.bounds === 'unchecked' || writer.context.ranges.isInside(place)) {
    state.firstIndex ??= writer.context.bounds === 'trap' ? undefined : text
    return plainIndex(writer, place.index, text)
  }
  if (writer.context.bounds === 'trap' && state.storage !== undefined) {
    const index = isSimple(text) ? text : writer.temporary(u32Type, text)
    state.firstIndex ??= index
    state.guards.push(`${viewName(writer.context.names, state.storage)}.index(${index}, ${length}u)`)
    return index
  }
  return `min(${text}, ${length - 1}u)`
}

/** An index that is known to be inside needs no cast. */
function plainIndex(writer: FunctionWriter, index: Expression, text: string): string {
  return index.type === i32Type && index.kind !== 'literal'
    ? unwrapped(valueTextAgain(writer, index, text))
    : text
}

/** The text of an index again, without its cast to unsigned; evaluating it twice would repeat what it puts first. */
function valueTextAgain(_writer: FunctionWriter, _index: Expression, text: string): string {
  return text.startsWith('(unsigned)') ? text.slice('(unsigned)'.length) : text
}

function runtimeIndex(state: Walk, place: IndexPlace): string {
  const { writer, storage } = state
  const { bounds, ranges } = writer.context
  const text = unsignedText(writer, place.index)
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
  if (ranges.isInside(place)) return plainIndex(writer, place.index, text)
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
