import type { ArrayType, BufferType, ScalarKind, StructType, Type } from '../ir.ts'
import { alignOf, roundUp, sizeOf } from '../layout.ts'
import { typeProperty } from '../type-property.ts'
import { arrayType, bufferType, matrixType, scalarType, vectorType } from '../types.ts'

/*
 * Types inside the front end may have abstract components, which IR types do not have. They use the same
 * objects with scalar kinds outside ScalarKind, and never leave the front end.
 */

/**
 * An array or buffer whose length depends on an override. Two of them are the same type only if both lengths
 * are the same single override. If overrides have no values, `length` is the minimum.
 */
export type OverrideSizedType = (ArrayType | BufferType) & {
  readonly length: number
  /** The name of the override, or words for a longer expression. */
  readonly lengthName: string
}

const overrideSizedTypes = new WeakMap<object, Map<Type, OverrideSizedType>>()

/**
 * Returns `type` as an override-sized type. `length` is the node of the override, or of a longer expression, with
 * which the type can be collected.
 */
export function overrideSized(
  type: ArrayType | BufferType,
  length: object,
  lengthName: string,
): OverrideSizedType {
  const known = overrideSizedTypes.get(length) ?? new Map<Type, OverrideSizedType>()
  overrideSizedTypes.set(length, known)
  const made = known.get(type) ?? ({ ...type, lengthName } as OverrideSizedType)
  known.set(type, made)
  return made
}

/** Whether a type is an array or buffer whose length depends on an override. */
export function isOverrideSized(type: Type): type is OverrideSizedType {
  return 'lengthName' in type
}

/** The type as it appears in the IR. */
export function withoutOverride(type: Type): Type {
  if (!isOverrideSized(type)) return type
  return type.kind === 'array' ? arrayType(type.element, type.length) : bufferType(type.length)
}

/** A scalar kind, including abstract kinds. */
export type AnyScalar = ScalarKind | 'abstract-int' | 'abstract-float'

/** The scalar type of any kind. */
export function anyScalar(kind: AnyScalar): Type {
  return scalarType(kind as ScalarKind)
}

export const abstractInt = anyScalar('abstract-int')
export const abstractFloat = anyScalar('abstract-float')

/** The scalar kind of a scalar, vector or matrix; undefined for other types. */
export function scalarOf(type: Type): AnyScalar | undefined {
  return type.kind === 'scalar' || type.kind === 'vector' || type.kind === 'matrix' ? type.scalar : undefined
}

/** The same shape with another scalar kind. */
export function withScalar(type: Type, scalar: AnyScalar): Type {
  switch (type.kind) {
    case 'scalar':
      return anyScalar(scalar)
    case 'vector':
      return vectorType(type.size, scalar as ScalarKind)
    case 'matrix':
      return matrixType(type.columns, type.rows, scalar as 'f32' | 'f16')
    default:
      return type
  }
}

/** Whether a type has abstract components. */
export const isAbstract = typeProperty((type: Type): boolean => {
  if (type.kind === 'array') return isAbstract(type.element)
  if (type.kind === 'struct') return type.builtin && type.members.some((m) => isAbstract(m.type))
  const scalar = scalarOf(type)
  return scalar === 'abstract-int' || scalar === 'abstract-float'
})

/** The default concrete type of an abstract type: with components of i32 or f32. */
export const concreteOf = typeProperty((type: Type): Type => {
  if (!isAbstract(type)) return type
  if (type.kind === 'array') return arrayType(concreteOf(type.element), type.length)
  if (type.kind === 'struct') return withMembers(type)
  return withScalar(type, scalarOf(type) === 'abstract-int' ? 'i32' : 'f32')
})

function withMembers(type: StructType): Type {
  const [first, second] = type.members.map((m) => concreteOf(m.type))
  return resultStruct(type.name.includes('frexp') ? 'frexp' : 'modf', first!, second!)
}

const scalarConversions: Record<string, readonly AnyScalar[]> = {
  'abstract-int': ['i32', 'u32', 'abstract-float', 'f32', 'f16'],
  'abstract-float': ['f32', 'f16'],
}

/** Whether values convert automatically (WGSL, "Feasible Automatic Conversion"). */
export function converts(from: Type, to: Type): boolean {
  if (from === to) return true
  if (from.kind !== to.kind) return false
  if (from.kind === 'array') {
    return (
      from.length !== undefined &&
      from.length === (to as ArrayType).length &&
      converts(from.element, (to as ArrayType).element)
    )
  }
  if (from.kind === 'struct') {
    const other = to as StructType
    return (
      from.builtin &&
      isAbstract(from) &&
      other.builtin &&
      from.name.slice(0, 8) === other.name.slice(0, 8) &&
      from.members.every((m, i) => converts(m.type, other.members[i]!.type))
    )
  }
  const scalar = scalarOf(from)
  const target = scalarOf(to)
  if (scalar === undefined || target === undefined || withScalar(from, target) !== to) return false
  return scalarConversions[scalar]?.includes(target) === true
}

/** The type among these that all others convert to. */
export function commonType(types: readonly Type[]): Type | undefined {
  let common = types[0]
  for (const type of types) {
    if (common !== undefined && !converts(type, common)) common = converts(common, type) ? type : undefined
  }
  return common !== undefined && types.every((type) => converts(type, common)) ? common : undefined
}

const resultStructs = new Map<string, StructType>()

/** The result structure of frexp, modf (of a float type) or atomicCompareExchangeWeak (of i32 or u32). */
export function resultStruct(
  kind: 'frexp' | 'modf' | 'atomic_compare_exchange',
  first: Type,
  second: Type,
): StructType {
  const shape = first.kind === 'vector' ? `vec${first.size}_${first.scalar}` : scalarOf(first)
  const name = `__${kind}_result_${kind === 'atomic_compare_exchange' ? scalarOf(first) : shape}`
  let made = resultStructs.get(name)
  if (made === undefined) {
    const names =
      kind === 'frexp' ? ['fract', 'exp'] : kind === 'modf' ? ['fract', 'whole'] : ['old_value', 'exchanged']
    made = makeStruct(
      name,
      names.map((member, i) => ({ name: member, type: i === 0 ? first : second })),
      true,
    )
    resultStructs.set(name, made)
  }
  return made
}

/** Computes the layout of a structure. `size` and `align` are those of the members' attributes. */
export function makeStruct(
  name: string,
  members: readonly { name: string; type: Type; size?: number | undefined; align?: number | undefined }[],
  builtin: boolean,
): StructType {
  let offset = 0
  let structAlign = 1
  const laidOut = members.map((member, index) => {
    const align = member.align ?? alignOf(member.type)
    const size = member.size ?? sizeOf(member.type)
    const at = roundUp(offset, align)
    offset = at + size
    structAlign = Math.max(structAlign, align)
    return { name: member.name, index, type: member.type, offset: at, size, align }
  })
  return {
    kind: 'struct',
    name,
    members: laidOut,
    size: roundUp(offset, structAlign),
    align: structAlign,
    builtin,
  }
}
