import type { ReflectedType } from '@tandem-gpu/wgsl'
import { describedValue } from './described-value.ts'
import { GpuError } from './errors.ts'
import { RecordedParameter } from './parameter.ts'
import type { UniformArray, UniformValue } from './recorder.ts'
import { requireScalar, storeScalar, type UniformScalar } from './scalar-bits.ts'

/** Where a value goes, and what happens to the parameters inside it. */
export interface UniformTarget {
  readonly view: DataView
  /** Checks that the parameter belongs to this recording, and notes that its scalar stands at `byteOffset`. */
  place(parameter: RecordedParameter, byteOffset: number, what: string): void
}

/**
 * Writes a value of a uniform block as its WGSL type lays it out. Scalars take numbers and parameters; vectors the components; matrices their
 * elements column after column, or the columns; arrays their elements, or the scalars of all elements; structures an object with every
 * member. Throws `validation`, naming the part that does not fit.
 */
export function writeUniformValue(
  target: UniformTarget,
  byteOffset: number,
  type: ReflectedType,
  value: unknown,
  what: string,
): void {
  switch (type.kind) {
    case 'scalar':
      writeScalar(target, byteOffset, type.scalar as UniformScalar, value, what)
      break
    case 'vector':
      writeNumbers(target, [byteOffset], type, numbersOf(value, type, what), what)
      break
    case 'matrix':
      writeMatrix(target, byteOffset, type, value, what)
      break
    case 'array':
      writeArray(target, byteOffset, type, value, what)
      break
    case 'struct':
      writeStructure(target, byteOffset, type, value, what)
      break
    default:
      throw new GpuError('validation', `${what} is ${type.name}, which a uniform block cannot hold.`)
  }
}

function writeScalar(
  target: UniformTarget,
  byteOffset: number,
  scalar: UniformScalar,
  value: unknown,
  what: string,
): void {
  if (value instanceof RecordedParameter) {
    if (value.type !== scalar)
      throw new GpuError(
        'validation',
        `${what} is parameter "${value.name}" of type ${value.type}; the member is ${scalar}.`,
      )
    target.place(value, byteOffset, what)
    storeScalar(target.view, byteOffset, scalar, value.initial)
    return
  }
  if (typeof value !== 'number')
    throw new GpuError(
      'validation',
      `${what} is ${described(value)}; it must be a number of type ${scalar}, or a parameter.`,
    )
  requireScalar(value, scalar, what)
  storeScalar(target.view, byteOffset, scalar, value)
}

function writeMatrix(
  target: UniformTarget,
  byteOffset: number,
  type: ReflectedType,
  value: unknown,
  what: string,
): void {
  const columns = type.columns!
  const starts = Array.from({ length: columns }, (_, column) => byteOffset + column * type.columnStride!)
  const given = isArrayLike(value) && typeof value[0] === 'object' ? value : undefined
  if (given === undefined) {
    writeNumbers(target, starts, type, numbersOf(value, type, what), what)
    return
  }
  requireCount(given.length, columns, 'columns', type, what)
  const column = { ...type, components: type.components / columns }
  for (const [index, start] of starts.entries()) {
    const where = `Column ${index} of ${lowered(what)}`
    writeNumbers(target, [start], column, numbersOf(given[index], column, where), where)
  }
}

function writeArray(
  target: UniformTarget,
  byteOffset: number,
  type: ReflectedType,
  value: unknown,
  what: string,
): void {
  const element = type.element!
  const length = type.length!
  if (!isArrayLike(value))
    throw new GpuError('validation', `${what} is ${described(value)}; ${type.name} takes its elements.`)
  const flat = element.kind === 'vector' && typeof value[0] === 'number'
  if (flat) {
    const starts = Array.from({ length }, (_, index) => byteOffset + index * type.stride!)
    const all = { ...type, components: length * element.components }
    writeNumbers(target, starts, all, numbersOf(value, all, what), what)
    return
  }
  requireCount(value.length, length, element.kind === 'scalar' ? 'numbers' : 'elements', type, what)
  for (let index = 0; index < length; index++)
    writeUniformValue(
      target,
      byteOffset + index * type.stride!,
      element,
      value[index],
      `Element ${index} of ${lowered(what)}`,
    )
}

function writeStructure(
  target: UniformTarget,
  byteOffset: number,
  { name, members }: ReflectedType,
  value: unknown,
  what: string,
): void {
  if (typeof value !== 'object' || value === null || isArrayLike(value) || 'buffer' in value)
    throw new GpuError(
      'validation',
      `${what} is ${described(value)}; ${name} takes an object with its members.`,
    )
  const given = value as Readonly<Record<string, unknown>>
  for (const key of Object.keys(given))
    if (!members!.some((member) => member.name === key))
      throw new GpuError(
        'validation',
        `${what} gives "${key}"; the members of ${name} are ${members!.map((member) => member.name).join(', ')}.`,
      )
  for (const member of members!) {
    const part = given[member.name]
    if (part === undefined)
      throw new GpuError('validation', `${what} lacks the member ${member.name} of ${name}.`)
    writeUniformValue(
      target,
      byteOffset + member.offset,
      { ...member, name: member.type },
      part,
      `Member ${member.name} of ${lowered(what)}`,
    )
  }
}

/** Equally many numbers go to each of `starts`, one directly after the other. */
function writeNumbers(
  { view }: UniformTarget,
  starts: readonly number[],
  type: ReflectedType,
  numbers: ArrayLike<number>,
  what: string,
): void {
  const scalar = type.scalar as UniformScalar
  const byteLength = scalar === 'f16' ? 2 : 4
  const each = numbers.length / starts.length
  for (const [part, start] of starts.entries())
    for (let i = 0; i < each; i++) {
      const value = numbers[part * each + i]!
      requireScalar(value, scalar, what)
      storeScalar(view, start + i * byteLength, scalar, value)
    }
}

function numbersOf(value: unknown, type: ReflectedType, what: string): ArrayLike<number> {
  if (!isArrayLike(value)) {
    const given = typeof value === 'number' ? 'one number' : described(value)
    throw new GpuError('validation', `${what} is ${given}; the member has ${type.components} components.`)
  }
  requireCount(value.length, type.components, 'numbers', type, what)
  return value as ArrayLike<number>
}

function requireCount(
  given: number,
  expected: number,
  noun: string,
  type: ReflectedType,
  what: string,
): void {
  if (given !== expected)
    throw new GpuError('validation', `${what} has ${given} ${noun}; ${type.name} takes ${expected}.`)
}

/** Arrays and typed arrays; vectors and columns may be either. */
function isArrayLike(value: unknown): value is UniformArray | readonly UniformValue[] {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView))
}

const lowered = (what: string) => what.charAt(0).toLowerCase() + what.slice(1)

function described(value: unknown): string {
  if (value instanceof RecordedParameter) return `parameter "${value.name}"`
  if (isArrayLike(value)) return `an array of ${value.length}`
  return typeof value === 'object' && value !== null && 'buffer' in value ? 'a view' : describedValue(value)
}
