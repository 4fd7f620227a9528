import type {
  Access,
  AddressSpace,
  ArrayType,
  AtomicType,
  BufferType,
  MatrixType,
  PointerType,
  ScalarKind,
  ScalarType,
  SubgroupMatrixType,
  Type,
  VectorType,
} from './ir.ts'
import { alignOf, roundUp, sizeOf } from './layout.ts'

/*
 * Constructors of interned types: equal types are the same object, so `===` compares them. The front end
 * creates each structure once per module; types that contain a structure are interned by that object.
 */

const scalars = new Map<string, ScalarType>()
const vectors = new Map<string, VectorType>()
const matrices = new Map<string, MatrixType>()
const atomics = new Map<string, AtomicType>()
const arrays = new WeakMap<Type, Map<number | undefined, ArrayType>>()
const subgroupMatrices = new Map<string, SubgroupMatrixType>()
const buffers = new Map<number | undefined, BufferType>()
const pointers = new WeakMap<Type, Map<string, PointerType>>()

function intern<K, T>(
  map: { get(key: K): T | undefined; set(key: K, value: T): unknown },
  key: K,
  make: () => T,
): T {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}

/** The scalar type of a kind. */
export function scalarType(scalar: ScalarKind): ScalarType {
  return intern(scalars, scalar, () => Object.freeze({ kind: 'scalar', scalar }))
}

/** The vector of `size` scalars. */
export function vectorType(size: 2 | 3 | 4, scalar: ScalarKind): VectorType {
  return intern(vectors, `${size}${scalar}`, () => Object.freeze({ kind: 'vector', size, scalar }))
}

/** The matrix of `columns` vectors of `rows` scalars. */
export function matrixType(columns: 2 | 3 | 4, rows: 2 | 3 | 4, scalar: 'f32' | 'f16'): MatrixType {
  return intern(matrices, `${columns}${rows}${scalar}`, () =>
    Object.freeze({ kind: 'matrix', columns, rows, scalar }),
  )
}

/** The atomic of a scalar. */
export function atomicType(scalar: 'i32' | 'u32'): AtomicType {
  return intern(atomics, scalar, () => Object.freeze({ kind: 'atomic', scalar }))
}

/** `atomic<vec2u>`. */
export const wideAtomicType: AtomicType = Object.freeze({ kind: 'atomic', scalar: 'u32', wide: true })

/** The array of `length` elements, or the runtime-sized array if `length` is undefined. */
export function arrayType(element: Type, length: number | undefined): ArrayType {
  const byLength = intern(arrays, element, () => new Map<number | undefined, ArrayType>())
  return intern(byLength, length, () =>
    Object.freeze({ kind: 'array', element, length, stride: roundUp(sizeOf(element), alignOf(element)) }),
  )
}

/** The buffer of `length` bytes, or of the size of the binding if `length` is undefined. */
export function bufferType(length: number | undefined): BufferType {
  return intern(buffers, length, () => Object.freeze({ kind: 'buffer', length }))
}

/** The pointer to memory of a space that holds a `store`. */
export function pointerType(space: AddressSpace, store: Type, access: Access): PointerType {
  const bySpace = intern(pointers, store, () => new Map<string, PointerType>())
  return intern(bySpace, `${space},${access}`, () => Object.freeze({ kind: 'pointer', space, store, access }))
}

/** The type of subgroup matrices with these properties. */
export function subgroupMatrixType(
  role: SubgroupMatrixType['role'],
  component: SubgroupMatrixType['component'],
  columns: number,
  rows: number,
): SubgroupMatrixType {
  return intern(subgroupMatrices, `${role} ${component} ${columns} ${rows}`, () =>
    Object.freeze({ kind: 'subgroup-matrix', role, component, columns, rows }),
  )
}

export const boolType: ScalarType = scalarType('bool')
export const i32Type: ScalarType = scalarType('i32')
export const u32Type: ScalarType = scalarType('u32')
export const f32Type: ScalarType = scalarType('f32')
export const f16Type: ScalarType = scalarType('f16')
export const vec2uType: VectorType = vectorType(2, 'u32')

/** How many elements, columns or components there are; undefined for runtime-sized arrays. */
export function elementCount(type: Type): number | undefined {
  return type.kind === 'array'
    ? type.length
    : type.kind === 'vector'
      ? type.size
      : type.kind === 'matrix'
        ? type.columns
        : undefined
}

/** Whether a type is i32 or u32. */
export function isInteger(type: Type | undefined): boolean {
  return type?.kind === 'scalar' && (type.scalar === 'i32' || type.scalar === 'u32')
}

/**
 * The WGSL spelling of a type, with predeclared aliases for vectors and matrices: `vec3f`,
 * `array<mat2x2h, 4>`.
 */
export function typeName(type: Type): string {
  switch (type.kind) {
    case 'scalar':
      return type.scalar
    case 'vector':
      return `vec${type.size}${suffix(type.scalar)}`
    case 'matrix':
      return `mat${type.columns}x${type.rows}${suffix(type.scalar)}`
    case 'atomic':
      return `atomic<${type.wide ? 'vec2u' : type.scalar}>`
    case 'array':
      return type.length === undefined
        ? `array<${typeName(type.element)}>`
        : `array<${typeName(type.element)}, ${'lengthName' in type ? type.lengthName : type.length}>`
    case 'struct':
      return type.name
    case 'buffer':
      return type.length === undefined
        ? 'buffer'
        : `buffer<${'lengthName' in type ? type.lengthName : type.length}>`
    case 'subgroup-matrix':
      return `subgroup_matrix_${type.role}<${type.component}, ${type.columns}, ${type.rows}>`
    case 'pointer':
      return `ptr<${type.space}, ${typeName(type.store)}${type.space === 'storage' ? `, ${type.access}` : ''}>`
  }
}

/** The part after `vec3` in a vector's name: the letter of a predeclared alias if there is one. */
function suffix(scalar: string): string {
  const letters: Record<string, string> = { i32: 'i', u32: 'u', f32: 'f', f16: 'h' }
  return letters[scalar] ?? `<${scalar}>`
}
