import { roundToHalf } from '../half-float.ts'
import type { ArrayType, SubgroupMatrixType, Type } from '../ir.ts'
import { scalarByteLength } from '../layout.ts'
import { scalarType, u32Type } from '../types.ts'
import { BoundMemory, type Value } from './memory.ts'
import { type MatrixValue, tensorCoreSums } from './tensor-core.ts'

/** The components of an array in memory, by their byte offset in it. */
export interface MatrixMemory {
  /** The byte length of the complete elements of the array. */
  readonly byteLength: number
  /** Bytes from element to element. */
  readonly stride: number
  load(byte: number): number
  store(byte: number, value: number): void
  /** Reports an access from this element on that goes beyond the array. */
  readonly outside?: ((offset: number) => never) | undefined
}

function isInteger({ component }: SubgroupMatrixType): boolean {
  return component !== 'f16' && component !== 'f32'
}

/**
 * The offset of an access and its stride from row to row or from column to column, in elements of the array.
 */
type Access = readonly [offset: number, stride: number, isColumnMajor: boolean]

/**
 * The byte offsets of the components in the array, row by row; undefined if any component is outside the
 * array.
 */
function bytesOf(
  type: SubgroupMatrixType,
  memory: MatrixMemory,
  [offset, stride, isColumnMajor]: Access,
): Float64Array | undefined {
  const { columns, rows } = type
  const size = scalarByteLength[type.component]
  const [slices, slice] = isColumnMajor ? [columns, rows * size] : [rows, columns * size]
  const step = Math.max(stride >>> 0, Math.ceil(slice / memory.stride)) * memory.stride
  const start = (offset >>> 0) * memory.stride
  if (start + (slices - 1) * step + slice > memory.byteLength) return memory.outside?.(offset)
  const [fromRowToRow, fromColumnToColumn] = isColumnMajor ? [size, step] : [step, size]
  return new Float64Array(rows * columns).map(
    (_, i) => start + Math.floor(i / columns) * fromRowToRow + (i % columns) * fromColumnToColumn,
  )
}

/** The elements of the array that an access touches. */
export function touchedElements(type: SubgroupMatrixType, memory: MatrixMemory, ...access: Access): number[] {
  return [...new Set(bytesOf(type, memory, access)?.map((byte) => Math.floor(byte / memory.stride)))]
}

/** `subgroupMatrixLoad`; returns zeros if any part of the matrix is outside the array. */
export function loadMatrix(type: SubgroupMatrixType, memory: MatrixMemory, ...access: Access): MatrixValue {
  const bytes = bytesOf(type, memory, access)
  return bytes?.map((byte) => memory.load(byte)) ?? new Float64Array(type.rows * type.columns)
}

/** `subgroupMatrixStore`; stores nothing if any part of the matrix is outside the array. */
export function storeMatrix(
  type: SubgroupMatrixType,
  memory: MatrixMemory,
  offset: number,
  value: MatrixValue,
  stride: number,
  isColumnMajor: boolean,
): void {
  bytesOf(type, memory, [offset, stride, isColumnMajor])?.forEach((byte, i) => {
    memory.store(byte, value[i]!)
  })
}

/** Rounds or wraps a number to the component type. */
function component(type: SubgroupMatrixType, x: number): number {
  if (type.component === 'f16') return roundToHalf(Math.fround(x))
  if (type.component === 'f32') return Math.fround(x)
  if (type.component === 'i8') return (x << 24) >> 24
  if (type.component === 'u8') return x & 0xff
  return type.component === 'u32' ? x >>> 0 : x | 0
}

/** A matrix of equal components. */
export function fillMatrix(type: SubgroupMatrixType, value: number): MatrixValue {
  return new Float64Array(type.rows * type.columns).fill(component(type, value))
}

/**
 * `sum + left · right`. For f32 sums and k = 16, the result is that of a tensor core. Otherwise the products
 * are summed in f64 over blocks of 16 of k, added to the component of `sum`, and rounded once. Other devices
 * may add in any order and round in between, so results agree only for inputs with exact sums.
 */
export function multiplyMatrices(
  type: SubgroupMatrixType,
  left: MatrixValue,
  right: MatrixValue,
  sum: MatrixValue | undefined,
): MatrixValue {
  const { columns, rows } = type
  const depth = left.length / rows
  if (type.component === 'f32' && depth === 16)
    return tensorCoreSums(columns, left, right, sum ?? new Float64Array(rows * columns))
  const wraps = isInteger(type)
  const result = new Float64Array(rows * columns)
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const i = row * columns + column
      let total = sum === undefined ? 0 : sum[i]!
      for (let from = 0; from < depth; from += 16) {
        const end = Math.min(from + 16, depth)
        let part = 0
        for (let k = from; k < end; k++) {
          const a = left[row * depth + k]!
          const b = right[k * columns + column]!
          part = wraps ? (part + Math.imul(a, b)) | 0 : part + a * b
        }
        total = component(type, part + total)
      }
      result[i] = total
    }
  return result
}

/** `subgroupMatrixScalarAdd`, `subgroupMatrixScalarSubtract`, `subgroupMatrixScalarMultiply`. */
export function combineWithScalar(
  type: SubgroupMatrixType,
  operation: 'Add' | 'Subtract' | 'Multiply',
  matrix: MatrixValue,
  scalar: number,
): MatrixValue {
  const wraps = isInteger(type)
  return matrix.map((x) => {
    const result =
      operation === 'Add'
        ? x + scalar
        : operation === 'Subtract'
          ? x - scalar
          : wraps
            ? Math.imul(x, scalar)
            : x * scalar
    return component(type, result)
  })
}

/** Loads a component. An 8-bit component is part of a word, which is read and written as a whole. */
function loadComponent(memory: BoundMemory, { component: kind }: SubgroupMatrixType, byte: number): number {
  if (kind !== 'i8' && kind !== 'u8') return memory.load(scalarType(kind), byte) as number
  const shift = (byte % 4) * 8
  const bits = ((memory.load(u32Type, byte - (byte % 4)) as number) >>> shift) & 0xff
  return kind === 'i8' ? (bits << 24) >> 24 : bits
}

function storeComponent(
  memory: BoundMemory,
  { component: kind }: SubgroupMatrixType,
  byte: number,
  value: number,
): void {
  if (kind !== 'i8' && kind !== 'u8') {
    memory.store(scalarType(kind), byte, value)
    return
  }
  const [from, shift] = [byte - (byte % 4), (byte % 4) * 8]
  const word = memory.load(u32Type, from) as number
  memory.store(u32Type, from, ((word & ~(0xff << shift)) | ((value & 0xff) << shift)) >>> 0)
}

/** An array in a binding that starts at `base`; a runtime-sized array has as many elements as are bound. */
export function boundArray(
  memory: BoundMemory,
  base: number,
  elements: number,
  { stride }: ArrayType,
  matrix: SubgroupMatrixType,
  outside?: (offset: number) => never,
): MatrixMemory {
  return {
    byteLength: elements * stride,
    stride,
    outside,
    load: (byte) => loadComponent(memory, matrix, base + byte),
    store: (byte, value) => storeComponent(memory, matrix, base + byte, value),
  }
}

/** An array in workgroup memory, which is a JavaScript array. */
export function plainArray(
  array: Value[],
  { stride, element }: ArrayType,
  matrix: SubgroupMatrixType,
): MatrixMemory {
  const isSame =
    (element.kind === 'scalar' || element.kind === 'vector') && element.scalar === matrix.component
  const size = scalarByteLength[matrix.component]
  const at = (byte: number) => Math.floor(byte / stride)
  // The bytes of one element, if its component type differs from the matrix's.
  let bytes: BoundMemory | undefined
  const bytesOf = (value: Value): BoundMemory => {
    bytes ??= new BoundMemory('', new Uint8Array(16), undefined)
    bytes.store(element as Type, 0, value)
    return bytes
  }
  return {
    byteLength: array.length * stride,
    stride,
    load(byte) {
      const value = array[at(byte)]!
      if (isSame) return Array.isArray(value) ? (value[(byte % stride) / size] as number) : (value as number)
      return loadComponent(bytesOf(value), matrix, byte % stride)
    },
    store(byte, component) {
      const value = array[at(byte)]!
      if (isSame && Array.isArray(value)) value[(byte % stride) / size] = component
      else if (isSame) array[at(byte)] = component
      else {
        const one = bytesOf(value)
        storeComponent(one, matrix, byte % stride, component)
        array[at(byte)] = one.load(element as Type, 0)
      }
    },
  }
}
