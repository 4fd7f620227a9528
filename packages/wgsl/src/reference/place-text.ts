import type { Expression, IndexPlace, Place, Type, ViewPlace } from '../ir.ts'
import { leastViewSize, scalarByteLength, strideOf } from '../layout.ts'
import { elementCount } from '../types.ts'
import { type PlaceUse, rootOf, viewOf } from '../walk.ts'
import type { Instrumentation } from './instrumentation.ts'
import { copyText } from './operator-text.ts'
import { boundMemory, byteLength, viewLength, viewPlace } from './views.ts'

/** The writer of the function that contains a place. */
export interface PlaceWriter {
  readonly instrumentation: Instrumentation
  /** The variables that hold the lengths of views. */
  readonly viewLengths: Map<ViewPlace, string>
  /** The name of a type. */
  type(type: Type): string
  /** The name of a local variable. */
  local(id: number): string
  /** A new local variable. */
  temporary(): string
  /** JavaScript of an expression. */
  value(e: Expression): string
}

/** JavaScript that accesses a place. */
export interface PlaceText {
  /** Evaluates index expressions into temporaries, in order. */
  readonly indices: string
  /** The same, and tells the observer of the access. */
  readonly prepare: string
  /** The value; composites are copied. */
  readonly load: string
  /** The value, which may share memory. */
  readonly raw: string
  readonly store: (value: string) => string
}

/** The JavaScript that accesses a place. */
export function placeText(writer: PlaceWriter, place: Place, use: PlaceUse = 'load'): PlaceText {
  const prepare: string[] = []
  const root = rootOf(place)
  const memory = boundMemory(root)
  if (memory !== undefined) {
    const offset = byteOffset(writer, place, memory, prepare)
    const indices = prepare.join('')
    const type = writer.type(place.type)
    const load = `${memory}.load(${type}, ${offset})`
    return {
      indices,
      prepare: indices,
      load,
      raw: load,
      store: (value) => `${memory}.store(${type}, ${offset}, ${value})`,
    }
  }
  const steps: (string | number)[] = []
  const path = pathText(writer, place, prepare, steps)
  const indices = prepare.join('')
  if (
    root.kind === 'variable' &&
    root.variable.kind === 'module-variable' &&
    root.variable.space === 'workgroup'
  )
    prepare.push(writer.instrumentation.touched(place, steps, use))
  const load = copyText(path, place.type)
  const store =
    place.kind === 'deref'
      ? (value: string) => `v${place.pointer.id}.set(${value})`
      : (value: string) => `${path} = ${value}`
  return { indices, prepare: prepare.join(''), load, raw: path, store }
}

/** The path to a place in JavaScript memory; its members, components and elements are added to `steps`. */
export function pathText(
  writer: PlaceWriter,
  place: Place,
  prepare: string[],
  steps: (string | number)[],
): string {
  switch (place.kind) {
    case 'variable': {
      const variable = place.variable
      if (variable.kind === 'local-variable') return writer.local(variable.id)
      return variable.space === 'workgroup' ? `inv.workgroup[${variable.id}]` : `inv.private[${variable.id}]`
    }
    case 'deref':
      return `v${place.pointer.id}.get()`
    case 'member-place': {
      const base = pathText(writer, place.base, prepare, steps)
      steps.push(place.member.index)
      return `${base}[${place.member.index}]`
    }
    case 'component-place': {
      const base = pathText(writer, place.base, prepare, steps)
      steps.push(place.component)
      return `${base}[${place.component}]`
    }
    case 'view-place':
      throw new TypeError('a view lies in memory of bytes')
    case 'index-place': {
      const base = pathText(writer, place.base, prepare, steps)
      const index = clampedIndex(writer, place, String(elementCount(place.base.type)), prepare)
      steps.push(index)
      return `${base}[${index}]`
    }
  }
}

/** The byte offset of a place in bound memory. */
export function byteOffset(writer: PlaceWriter, place: Place, memory: string, prepare: string[]): string {
  switch (place.kind) {
    case 'variable':
    case 'deref':
      return '0'
    case 'member-place':
      return `${byteOffset(writer, place.base, memory, prepare)} + ${place.member.offset}`
    case 'component-place':
      return `${byteOffset(writer, place.base, memory, prepare)} + ${place.component * scalarByteLength[place.type.scalar]}`
    case 'index-place': {
      const base = byteOffset(writer, place.base, memory, prepare)
      const index = clampedIndex(writer, place, boundLength(writer, place.base, memory, base), prepare)
      return `${base} + ${strideOf(place.base.type)} * ${index}`
    }
    case 'view-place':
      return viewOffset(writer, place, memory, prepare)
  }
}

/** The number of elements of a place in bound memory that starts at byte `base`. */
export function boundLength(writer: PlaceWriter, place: Place, memory: string, base: string): string {
  const count = elementCount(place.type)
  if (count !== undefined) return String(count)
  const view = viewOf(place)
  return view === undefined
    ? `Math.floor((${memory}.byteLength - (${base})) / ${strideOf(place.type)})`
    : writer.viewLengths.get(view)!
}

/**
 * The offset of a view; a view that does not fit starts at the buffer's first byte. Records the length of its
 * runtime-sized array.
 */
function viewOffset(writer: PlaceWriter, view: ViewPlace, memory: string, prepare: string[]): string {
  const [offset, needed, seen] = [writer.temporary(), writer.temporary(), writer.temporary()]
  const bytes = byteLength(view, memory)
  const place = viewPlace(view, writer.value(view.offset), view.size && writer.value(view.size))
  prepare.push(`${offset} = ${place.offset}; `, `${needed} = ${place.needed}; `)
  const report = writer.instrumentation.outside(view, offset, bytes)
  if (report !== undefined) prepare.push(`${offset} + ${needed} > ${bytes} && ${report}; `)
  prepare.push(`${seen} = ${offset} + ${needed} <= ${bytes} ? ${needed} : ${leastViewSize(view.type)}; `)
  prepare.push(`${offset} = ${offset} + ${needed} <= ${bytes} ? ${offset} : 0; `)
  const length = viewLength(view, view.size === undefined ? `(${bytes} - ${offset})` : seen)
  if (length !== undefined) {
    const count = writer.temporary()
    prepare.push(`${count} = ${length}; `)
    writer.viewLengths.set(view, count)
  }
  return offset
}

function clampedIndex(writer: PlaceWriter, access: IndexPlace, length: string, prepare: string[]): string {
  const { index } = access
  if (index.kind === 'literal' && /^\d+$/.test(length)) return String(index.value)
  const temporary = writer.temporary()
  prepare.push(`${temporary} = ${writer.instrumentation.clamped(access, writer.value(index), length)}; `)
  return temporary
}
