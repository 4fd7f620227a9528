import { type BuiltinFunction, builtinFacts } from '../builtin-functions.ts'
import type { Type } from '../ir.ts'
import { i32Type, matrixType, u32Type } from '../types.ts'
import { type AnyScalar, anyScalar, converts, resultStruct, withScalar } from './numeric-types.ts'
import { plainTypes } from './type-names.ts'

/** The scalar classes of overloads, each in order of preference among automatic conversions. */
const classes: Record<string, readonly AnyScalar[]> = {
  number: ['abstract-int', 'abstract-float', 'i32', 'u32', 'f32', 'f16'],
  signed: ['abstract-int', 'abstract-float', 'i32', 'f32', 'f16'],
  float: ['abstract-float', 'f32', 'f16'],
  integer: ['i32', 'u32'],
  concrete: ['i32', 'u32', 'f32', 'f16'],
  any: ['abstract-int', 'abstract-float', 'i32', 'u32', 'f32', 'f16', 'bool'],
  bool: ['bool'],
  f32: ['f32'],
}

interface Signature {
  scalars: readonly AnyScalar[]
  parameters: readonly string[]
  result: string
}

const parsed = new Map<BuiltinFunction, readonly Signature[]>()

/** The signatures of a function; none for functions that take pointers or matrices. */
function signaturesOf(name: BuiltinFunction): readonly Signature[] {
  let signatures = parsed.get(name)
  if (signatures === undefined) {
    const facts = builtinFacts[name]
    signatures = ('overloads' in facts ? facts.overloads : []).map((line) => {
      const [head, result] = line.split('->') as [string, string]
      const colon = head.indexOf(':')
      return {
        scalars: classes[head.slice(0, colon)] ?? [],
        parameters: head.slice(colon + 1).match(/\S+/g) ?? [],
        result: result.trim(),
      }
    })
    parsed.set(name, signatures)
  }
  return signatures
}

/**
 * The overload that a call resolves to: the types that the arguments convert to, and the result type,
 * undefined for none.
 */
export interface Overload {
  readonly parameters: readonly Type[]
  readonly result: Type | undefined
}

/**
 * Finds the overload for argument types. With `concrete`, abstract results are not allowed, because an
 * argument is not constant.
 */
export function resolveOverload(
  name: BuiltinFunction,
  args: readonly Type[],
  concrete: boolean,
): Overload | undefined {
  for (const signature of signaturesOf(name)) {
    const overload = match(signature, args, concrete)
    if (overload !== undefined) return overload
  }
  return undefined
}

/**
 * The types that a parameter accepts, given that its scalar belongs to the class. All parameters except S
 * have the shape of the first.
 */
const shapes: Readonly<Record<string, (type: Type) => boolean>> = {
  S: ({ kind }) => kind === 'scalar',
  T: ({ kind }) => kind === 'scalar' || kind === 'vector',
  V: ({ kind }) => kind === 'vector',
  V3: (type) => type.kind === 'vector' && type.size === 3,
  M: ({ kind }) => kind === 'matrix',
  Q: (type) => type.kind === 'matrix' && type.columns === type.rows,
}

function match(signature: Signature, args: readonly Type[], concrete: boolean): Overload | undefined {
  const { parameters, scalars, result } = signature
  if (args.length !== parameters.length) return undefined
  let shape: Type | undefined
  const bound: Type[] = []
  for (const [i, parameter] of parameters.entries()) {
    const arg = args[i]!
    const fits = shapes[parameter]
    if (fits === undefined) continue
    if (!fits(arg)) return undefined
    bound.push(arg)
    if (parameter === 'S') continue
    if (shape !== undefined && withScalar(arg, 'f32') !== withScalar(shape, 'f32')) return undefined
    shape ??= arg
  }
  const scalar = scalars.find(
    (s) =>
      (!concrete || !s.startsWith('abstract')) && bound.every((type) => converts(type, withScalar(type, s))),
  )
  if (scalars.length > 0 && scalar === undefined) return undefined
  const typeOf = (parameter: string, arg: Type): Type | undefined => {
    if (parameter === 'I')
      return arg === i32Type || arg === u32Type ? arg : converts(arg, u32Type) ? u32Type : undefined
    if (parameter in shapes) return typeIn(parameter, shape, scalar)
    const colon = parameter.indexOf(':')
    return colon > 0 ? typeIn('T', shape, parameter.slice(colon + 1) as AnyScalar) : plainTypes.get(parameter)
  }
  const types: Type[] = []
  for (const [i, parameter] of parameters.entries()) {
    const type = typeOf(parameter, args[i]!)
    if (type === undefined || !converts(args[i]!, type)) return undefined
    types.push(type)
  }
  return { parameters: types, result: resultOf(result, shape, scalar) }
}

/** The type that a letter of a signature stands for: S is the scalar, every other one has the shape too. */
function typeIn(letter: string, shape: Type | undefined, scalar: AnyScalar | undefined): Type | undefined {
  if (scalar === undefined) return undefined
  return letter === 'S' ? anyScalar(scalar) : shape && withScalar(shape, scalar)
}

function resultOf(result: string, shape: Type | undefined, scalar: AnyScalar | undefined): Type | undefined {
  if (result in shapes) return typeIn(result, shape, scalar)
  if (result === 'Mt')
    return shape?.kind === 'matrix' ? matrixType(shape.rows, shape.columns, scalar as 'f32') : undefined
  if (result !== 'frexp' && result !== 'modf') return plainTypes.get(result)
  const type = typeIn('T', shape, scalar)
  const exponent = typeIn('T', shape, scalar === 'abstract-float' ? 'abstract-int' : 'i32')
  return type && exponent && resultStruct(result, type, result === 'frexp' ? exponent : type)
}

/** For error messages: how a function may be called. */
export function describeOverloads(name: BuiltinFunction): string {
  return signaturesOf(name)
    .map((s) => `${name}(${s.parameters.join(', ')})`)
    .join(' or ')
}
