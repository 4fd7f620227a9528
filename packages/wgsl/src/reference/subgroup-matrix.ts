import { roundToHalf } from '../half-float.ts'
import type { ArrayType, SubgroupMatrixType, Type } from '../ir.ts'
import { scalarType } from '../types.ts'
import { BoundMemory, type Value } from './memory.ts'

/** A subgroup matrix: its components row by row. Nothing changes one, so invocations share it. */
export type MatrixValue = Float64Array

/** The components of an array in memory, by the byte at which they begin in it. */
export interface MatrixMemory {
  /** The bytes of the whole elements in the array. */
  readonly byteLength: number
  /** Bytes from element to element. */
  readonly stride: number
  load(byte: number): number
  store(byte: number, value: number): void
}

function componentByteLength({ component }: SubgroupMatrixType): number {
  return component === 'f16' ? 2 : 4
}

/** Where the components lie, row by row; undefined when some are outside of the array. */
function bytesOf(
  type: SubgroupMatrixType,
  memory: MatrixMemory,
  offset: number,
  stride: number,
  isColumnMajor: boolean,
): number[] | undefined {
  const { columns, rows } = type
  const size = componentByteLength(type)
  const [slices, slice] = isColumnMajor ? [columns, rows * size] : [rows, columns * size]
  const step = Math.max(stride >>> 0, Math.ceil(slice / memory.stride)) * memory.stride
  const start = (offset >>> 0) * memory.stride
  if (start + (slices - 1) * step + slice > memory.byteLength) return undefined
  return Array.from({ length: rows * columns }, (_, i) => {
    const [row, column] = [Math.floor(i / columns), i % columns]
    return start + (isColumnMajor ? column * step + row * size : row * step + column * size)
  })
}

/** The elements of the array that an access touches. */
export function touchedElements(
  type: SubgroupMatrixType,
  memory: MatrixMemory,
  offset: number,
  stride: number,
  isColumnMajor: boolean,
): number[] {
  const bytes = bytesOf(type, memory, offset, stride, isColumnMajor) ?? []
  return [...new Set(bytes.map((byte) => Math.floor(byte / memory.stride)))]
}

/** `subgroupMatrixLoad`: zeros where part of the matrix is outside of the array. */
export function loadMatrix(
  type: SubgroupMatrixType,
  memory: MatrixMemory,
  offset: number,
  stride: number,
  isColumnMajor: boolean,
): MatrixValue {
  const bytes = bytesOf(type, memory, offset, stride, isColumnMajor)
  if (bytes === undefined) return new Float64Array(type.rows * type.columns)
  return Float64Array.from(bytes, (byte) => Number(memory.load(byte)))
}

/** `subgroupMatrixStore`: nothing where part of the matrix is outside of the array. */
export function storeMatrix(
  type: SubgroupMatrixType,
  memory: MatrixMemory,
  offset: number,
  value: MatrixValue,
  stride: number,
  isColumnMajor: boolean,
): void {
  const bytes = bytesOf(type, memory, offset, stride, isColumnMajor) ?? []
  for (const [i, byte] of bytes.entries()) memory.store(byte, value[i]!)
}

/** Rounds, or wraps around, to a component. */
function component(type: SubgroupMatrixType, x: number): number {
  if (type.component === 'f16') return roundToHalf(Math.fround(x))
  if (type.component === 'f32') return Math.fround(x)
  return type.component === 'u32' ? x >>> 0 : x | 0
}

/** A matrix of equal components. */
export function fillMatrix(type: SubgroupMatrixType, value: number): MatrixValue {
  return new Float64Array(type.rows * type.columns).fill(component(type, value))
}

/**
 * `sum + left · right`. Products and their sums over 16 of k are formed in f64, added to the component of the sum, and rounded to it once. Real
 * devices may add in any order and round in between, which only inputs with exact sums do not show.
 */
export function multiplyMatrices(
  type: SubgroupMatrixType,
  left: MatrixValue,
  right: MatrixValue,
  sum: MatrixValue | undefined,
): MatrixValue {
  const { columns, rows } = type
  const depth = left.length / rows
  const isInteger = type.component === 'i32' || type.component === 'u32'
  return Float64Array.from({ length: rows * columns }, (_, i) => {
    const [row, column] = [Math.floor(i / columns), i % columns]
    let total = sum?.[i] ?? 0
    for (let from = 0; from < depth; from += 16) {
      let part = 0
      for (let k = from; k < Math.min(from + 16, depth); k++) {
        const [a, b] = [left[row * depth + k]!, right[k * columns + column]!]
        part = isInteger ? (part + Math.imul(a, b)) | 0 : part + a * b
      }
      total = component(type, part + total)
    }
    return total
  })
}

/** `subgroupMatrixScalarAdd`, `subgroupMatrixScalarSubtract`, `subgroupMatrixScalarMultiply`. */
export function combineWithScalar(
  type: SubgroupMatrixType,
  operation: 'Add' | 'Subtract' | 'Multiply',
  matrix: MatrixValue,
  scalar: number,
): MatrixValue {
  const isInteger = type.component === 'i32' || type.component === 'u32'
  return matrix.map((x) => {
    const result =
      operation === 'Add'
        ? x + scalar
        : operation === 'Subtract'
          ? x - scalar
          : isInteger
            ? Math.imul(x, scalar)
            : x * scalar
    return component(type, result)
  })
}

/** An array in a binding, from `base` on; one without length has as many elements as are bound. */
export function boundArray(
  memory: BoundMemory,
  base: number,
  elements: number,
  { stride }: ArrayType,
  { component: kind }: SubgroupMatrixType,
): MatrixMemory {
  const type = scalarType(kind as 'f32')
  return {
    byteLength: elements * stride,
    stride,
    load: (byte) => memory.load(type, base + byte) as number,
    store: (byte, value) => memory.store(type, base + byte, value),
  }
}

/** An array of workgroup memory, which is one of JavaScript. */
export function plainArray(
  array: Value[],
  { stride, element }: ArrayType,
  { component: kind }: SubgroupMatrixType,
): MatrixMemory {
  const type = scalarType(kind as 'f32')
  const bytes = new BoundMemory('', new Uint8Array(16), undefined)
  const isSame = (element.kind === 'scalar' || element.kind === 'vector') && element.scalar === kind
  const size = kind === 'f16' ? 2 : 4
  const at = (byte: number) => Math.floor(byte / stride)
  return {
    byteLength: array.length * stride,
    stride,
    load(byte) {
      const value = array[at(byte)]!
      if (isSame) return Array.isArray(value) ? (value[(byte % stride) / size] as number) : (value as number)
      bytes.store(element as Type, 0, value)
      return bytes.load(type, byte % stride) as number
    },
    store(byte, component) {
      const value = array[at(byte)]!
      if (isSame && Array.isArray(value)) value[(byte % stride) / size] = component
      else if (isSame) array[at(byte)] = component
      else {
        bytes.store(element as Type, 0, value)
        bytes.store(type, byte % stride, component)
        array[at(byte)] = bytes.load(element as Type, 0)
      }
    },
  }
}
