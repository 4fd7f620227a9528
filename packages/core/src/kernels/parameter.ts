import { describedValue } from '../described-value.ts'
import { invalid } from '../errors.ts'
import { requireScalar } from './scalar-bits.ts'

/**
 * A scalar or a vector of a program that `run({ parameters })` may change without recording again. Made by
 * `Recorder.parameter`.
 */
export interface Parameter {
  readonly name: string
  readonly type: ParameterType
  readonly initial: ParameterValue
}

type ParameterScalar = 'f32' | 'i32' | 'u32'
/** A scalar or a vector, by the names of WGSL: `f32`, `vec3u`. */
export type ParameterType = ParameterScalar | `vec${2 | 3 | 4}${'f' | 'i' | 'u'}`

/** A number for a scalar; the components for a vector. */
export type ParameterValue = number | readonly number[] | Float32Array | Int32Array | Uint32Array

const scalars: readonly ParameterScalar[] = ['f32', 'i32', 'u32']

/** A parameter with its offsets in the uniform block. */
export class RecordedParameter implements Parameter {
  readonly name: string
  readonly type: ParameterType
  readonly initial: ParameterValue
  readonly scalar: ParameterScalar
  /** 1 for a scalar. */
  readonly components: number
  readonly byteOffsets: number[] = []

  /** Throws `validation` unless `type` is a `ParameterType` and the initial value fits it. */
  constructor(name: string, type: ParameterType, initial: ParameterValue) {
    const [, components, letter] = /^vec([234])([fiu])$/.exec(typeof type === 'string' ? type : '') ?? []
    const scalar = scalars.find((one) => one === type || one[0] === letter)
    if (scalar === undefined)
      throw invalid(
        `The type of parameter "${name}" is ${describedValue(type)}; it must be 'f32', 'i32', 'u32' or a vector of them, such as 'vec2f'.`,
      )
    this.name = name
    this.type = type
    this.scalar = scalar
    this.components = components === undefined ? 1 : Number(components)
    this.initial = initial
    this.numbers(initial, `The initial value of parameter "${name}"`)
  }

  /** The components of a value, one for a scalar. Throws `validation` unless the value fits the type. */
  numbers(value: ParameterValue, what: string): ArrayLike<number> {
    const isArray = Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView))
    if (this.components > 1 && !(isArray && value.length === this.components)) {
      const given = isArray ? `an array of ${value.length}` : describedValue(value)
      throw invalid(`${what} is ${given}; ${this.type} needs ${this.components} numbers.`)
    }
    const numbers = this.components > 1 ? (value as ArrayLike<number>) : [value as number]
    for (let i = 0; i < numbers.length; i++) requireScalar(numbers[i]!, this.scalar, what)
    return numbers
  }
}
