import type { ReflectedType } from '@tandem-gpu/wgsl'
import { bufferOf } from '../buffers/owned-buffer.ts'
import { counted, describedValue } from '../described-value.ts'
import { invalid } from '../errors.ts'
import type { UniformArray, UniformValue } from '../recording/recorder.ts'
import { RecordedParameter } from './parameter.ts'
import { requireScalar, storeScalar, type UniformScalar } from './scalar-bits.ts'

/** Where values go, and what happens to the parameters inside them. */
export interface UniformTarget {
  readonly view: DataView
  /** Checks that the parameter belongs to this recording, and records that it is at `byteOffset`. */
  place(parameter: RecordedParameter, byteOffset: number, what: string): void
}

/** The part of a uniform block that holds one value. */
export interface UniformPlace {
  readonly target: UniformTarget
  readonly byteOffset: number
  readonly type: ReflectedType
  /** The name of the value in messages. */
  readonly what: string
}

/**
 * Writes a value of a uniform block in the layout of its WGSL type. A scalar accepts a number or a parameter;
 * a vector accepts its components or a parameter; a matrix accepts its elements, column after column, or its
 * columns; an array accepts its elements or the scalars of all elements; a structure accepts an object with
 * every member. Throws `validation` with the name of the part that does not fit.
 */
export function writeUniformValue(place: UniformPlace, value: unknown): void {
  const { byteOffset, type, what } = place
  switch (type.kind) {
    case 'scalar':
      writeScalar(place, value)
      break
    case 'vector':
      if (value instanceof RecordedParameter) writeParameter(place, value)
      else writeNumbers(place, [byteOffset], value)
      break
    case 'matrix':
      writeMatrix(place, value)
      break
    case 'array':
      writeArray(place, value)
      break
    case 'struct':
      writeStructure(place, value)
      break
    default:
      throw invalid(`${what} has type ${type.name}, which a uniform block cannot hold.`)
  }
}

/** The components of a vector are contiguous, four bytes each. */
function writeParameter(
  { target, byteOffset, type, what }: UniformPlace,
  parameter: RecordedParameter,
): void {
  const { name, scalar, components, initial } = parameter
  if (scalar !== type.scalar || components !== type.components)
    throw invalid(`${what} is parameter "${name}" of type ${parameter.type}; the member is ${type.name}.`)
  target.place(parameter, byteOffset, what)
  const numbers = parameter.numbers(initial, what)
  for (let i = 0; i < components; i++) storeScalar(target.view, byteOffset + 4 * i, scalar, numbers[i]!)
}

function writeScalar(place: UniformPlace, value: unknown): void {
  const { target, byteOffset, type, what } = place
  const scalar = type.scalar as UniformScalar
  if (value instanceof RecordedParameter) {
    writeParameter(place, value)
    return
  }
  if (typeof value !== 'number')
    throw invalid(`${what} is ${described(value)}; it must be a number of type ${scalar}, or a parameter.`)
  requireScalar(value, scalar, what)
  storeScalar(target.view, byteOffset, scalar, value)
}

function writeMatrix(place: UniformPlace, value: unknown): void {
  const { byteOffset, type } = place
  const columns = type.columns!
  const starts = Array.from({ length: columns }, (_, column) => byteOffset + column * type.columnStride!)
  if (!isArrayLike(value) || typeof value[0] !== 'object') {
    writeNumbers(place, starts, value)
    return
  }
  requireCount(place, value.length, columns, 'column')
  const column = { ...type, components: type.components / columns }
  for (const [index, start] of starts.entries()) {
    const what = `Column ${index} of ${lowered(place.what)}`
    writeNumbers({ ...place, type: column, what }, [start], value[index])
  }
}

function writeArray(place: UniformPlace, value: unknown): void {
  const { byteOffset, type, what } = place
  const element = type.element!
  const length = type.length!
  if (!isArrayLike(value))
    throw invalid(`${what} is ${described(value)}; ${type.name} needs an array of its elements.`)
  const starts = Array.from({ length }, (_, index) => byteOffset + index * type.stride!)
  if (element.kind === 'vector' && typeof value[0] === 'number') {
    writeNumbers({ ...place, type: { ...type, components: length * element.components } }, starts, value)
    return
  }
  requireCount(place, value.length, length, element.kind === 'scalar' ? 'number' : 'element')
  for (const [index, start] of starts.entries()) {
    const part = { ...place, byteOffset: start, type: element, what: `Element ${index} of ${lowered(what)}` }
    writeUniformValue(part, value[index])
  }
}

function writeStructure(place: UniformPlace, value: unknown): void {
  const { byteOffset, what } = place
  const { name, members } = place.type
  if (typeof value !== 'object' || value === null || isArrayLike(value) || bufferOf(value) !== undefined)
    throw invalid(`${what} is ${described(value)}; ${name} needs an object with its members.`)
  const given = value as Readonly<Record<string, unknown>>
  for (const key of Object.keys(given))
    if (!members!.some((member) => member.name === key))
      throw invalid(
        `${what} has a member "${key}"; the members of ${name} are ${members!.map((member) => member.name).join(', ')}.`,
      )
  for (const member of members!) {
    const part = given[member.name]
    if (part === undefined) throw invalid(`${what} has no member ${member.name}, which ${name} needs.`)
    const memberPlace = {
      ...place,
      byteOffset: byteOffset + member.offset,
      type: { ...member, name: member.type },
      what: `Member ${member.name} of ${lowered(what)}`,
    }
    writeUniformValue(memberPlace, part)
  }
}

/** Writes the same number of values, contiguously, at each of `starts`. */
function writeNumbers(place: UniformPlace, starts: readonly number[], value: unknown): void {
  const { target, type, what } = place
  if (!isArrayLike(value)) {
    const given = typeof value === 'number' ? 'one number' : described(value)
    throw invalid(`${what} is ${given}; the member has ${type.components} components.`)
  }
  requireCount(place, value.length, type.components, 'number')
  const numbers = value as ArrayLike<number>
  const scalar = type.scalar as UniformScalar
  const byteLength = scalar === 'f16' ? 2 : 4
  const each = numbers.length / starts.length
  for (const [part, start] of starts.entries())
    for (let i = 0; i < each; i++) {
      const number = numbers[part * each + i]!
      requireScalar(number, scalar, what)
      storeScalar(target.view, start + i * byteLength, scalar, number)
    }
}

function requireCount({ type, what }: UniformPlace, given: number, expected: number, noun: string): void {
  if (given !== expected)
    throw invalid(`${what} has ${counted(given, noun)}; ${type.name} needs ${expected}.`)
}

/** Whether the value is an array or a typed array; vectors and columns may be either. */
function isArrayLike(value: unknown): value is UniformArray | readonly UniformValue[] {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView))
}

const lowered = (what: string) => what.charAt(0).toLowerCase() + what.slice(1)

function described(value: unknown): string {
  if (value instanceof RecordedParameter) return `parameter "${value.name}"`
  if (isArrayLike(value)) return `an array of ${value.length}`
  return bufferOf(value) === undefined ? describedValue(value) : 'a view'
}
