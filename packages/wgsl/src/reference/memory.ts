import { halfBits, halfValue } from '../half-float.ts'
import type { ScalarKind, Type } from '../ir.ts'
import { scalarByteLength, strideOf } from '../layout.ts'
import { typeProperty } from '../type-property.ts'
import { vec2uType, vectorType } from '../types.ts'
import { floatValue, nanBits } from '../values/nan.ts'

/**
 * A WGSL value in JavaScript: numbers and booleans; vectors, arrays, structures and matrices (of columns) as
 * arrays; a subgroup matrix as an immutable `Float64Array`.
 */
export type Value = number | boolean | Value[] | Float64Array

/** Called before every access to a binding; offsets count from the start of the bound memory. */
export type AccessObserver = (
  binding: string,
  byteOffset: number,
  byteLength: number,
  use: 'read' | 'write',
) => void

/** The memory that is bound to one storage or uniform variable. */
export class BoundMemory {
  readonly byteLength: number
  readonly #key: string
  readonly #view: DataView
  readonly #observe: AccessObserver | undefined

  constructor(key: string, bytes: Uint8Array, observe: AccessObserver | undefined) {
    this.#key = key
    this.byteLength = bytes.byteLength
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#observe = observe
  }

  load(type: Type, byteOffset: number): Value {
    switch (type.kind) {
      case 'scalar':
      case 'atomic':
        if (type.kind === 'atomic' && type.wide) return this.load(vec2uType, byteOffset)
        return this.#loadScalar(type.scalar, byteOffset)
      case 'vector': {
        const size = scalarByteLength[type.scalar]
        const value: Value[] = []
        for (let i = 0; i < type.size; i++) value.push(this.#loadScalar(type.scalar, byteOffset + i * size))
        return value
      }
      default:
        return parts(type).map((part) => this.load(part.type, byteOffset + part.offset))
    }
  }

  store(type: Type, byteOffset: number, value: Value): void {
    switch (type.kind) {
      case 'scalar':
      case 'atomic':
        if (type.kind === 'atomic' && type.wide) this.store(vec2uType, byteOffset, value)
        else this.#storeScalar(type.scalar, byteOffset, value as number)
        return
      case 'vector': {
        const size = scalarByteLength[type.scalar]
        for (let i = 0; i < type.size; i++)
          this.#storeScalar(type.scalar, byteOffset + i * size, (value as number[])[i]!)
        return
      }
      default:
        for (const [i, part] of parts(type).entries())
          this.store(part.type, byteOffset + part.offset, (value as Value[])[i]!)
    }
  }

  #loadScalar(scalar: ScalarKind, byteOffset: number): Value {
    const size = scalarByteLength[scalar]
    this.#observe?.(this.#key, byteOffset, size, 'read')
    const view = this.#view
    if (byteOffset + size > this.byteLength) return scalar === 'bool' ? false : 0
    switch (scalar) {
      case 'f32': {
        const x = view.getFloat32(byteOffset, true)
        // The test avoids creating a function for each loaded number.
        return Number.isNaN(x) ? floatValue(x, () => view.getUint32(byteOffset, true)) : x
      }
      case 'i32':
        return view.getInt32(byteOffset, true)
      case 'f16':
        return floatValue(halfValue(view.getUint16(byteOffset, true)), () => view.getUint16(byteOffset, true))
      default:
        return view.getUint32(byteOffset, true)
    }
  }

  #storeScalar(scalar: ScalarKind, byteOffset: number, value: number): void {
    const size = scalarByteLength[scalar]
    this.#observe?.(this.#key, byteOffset, size, 'write')
    const view = this.#view
    if (byteOffset + size > this.byteLength) return
    const nan = nanBits(value)
    switch (scalar) {
      case 'f32':
        if (nan === undefined) view.setFloat32(byteOffset, value, true)
        else view.setUint32(byteOffset, nan, true)
        return
      case 'i32':
        view.setInt32(byteOffset, value, true)
        return
      case 'f16':
        view.setUint16(byteOffset, nan ?? halfBits(value), true)
        return
      default:
        view.setUint32(byteOffset, value, true)
    }
  }
}

interface Part {
  readonly type: Type
  readonly offset: number
}

/** The parts of a composite type, in order, with their byte offsets. */
const parts = typeProperty((type: Type): readonly Part[] => {
  switch (type.kind) {
    case 'struct':
      return type.members
    case 'array':
      return equalParts(type, type.element, type.length ?? 0)
    case 'matrix':
      return equalParts(type, vectorType(type.rows, type.scalar), type.columns)
    default:
      throw new TypeError(`${type.kind} has no parts`)
  }
})

function equalParts(whole: Type, type: Type, count: number): Part[] {
  return Array.from({ length: count }, (_, i) => ({ type, offset: i * strideOf(whole) }))
}

/** The zero value of a type. */
export function zeroValue(type: Type): Value {
  switch (type.kind) {
    case 'scalar':
    case 'atomic':
      return type.scalar === 'bool' ? false : 0
    case 'subgroup-matrix':
      return new Float64Array(type.columns * type.rows)
    case 'vector':
      return new Array<Value>(type.size).fill(type.scalar === 'bool' ? false : 0)
    case 'array': {
      const elements = new Array<Value>(type.length ?? 0).fill(zeroValue(type.element))
      return typeof elements[0] === 'object' ? elements.map((element) => cloneValue(element)) : elements
    }
    default:
      return parts(type).map((part) => zeroValue(part.type))
  }
}

/** A deep copy of `value`. */
export function cloneValue<T extends Value>(value: T): T {
  if (!Array.isArray(value)) return value
  const copy = value.slice()
  for (let i = 0; i < copy.length; i++) if (typeof copy[i] === 'object') copy[i] = cloneValue(copy[i]!)
  return copy as T
}
