import { type ElementArray, type ElementType, elementByteLength } from '@tandem-gpu/core'
import { UsageError } from '../exit-code.ts'
import { printable } from '../printable.ts'

/** Element types of `.npy` files that commands accept. */
export type FileElementType = ElementType
/**
 * The element types that every algorithm accepts. Products also accept f16, and the user's own kernels accept
 * bytes.
 */
export type NpyElementType = Exclude<FileElementType, 'f16' | 'u8' | 'i8'>
export const elementTypes: readonly NpyElementType[] = ['f32', 'i32', 'u32']

/** Converts the elements of a file to those of an algorithm. */
export interface ElementConversion {
  readonly type: FileElementType
  /** Whether the file has complex numbers, of two elements (f32) each. */
  readonly complex: boolean
  /** Bytes of one element in the file. */
  readonly fileByteLength: number
  /** `position` is the index of the first element, for error messages. `bytes` may start anywhere. */
  convert(bytes: Uint8Array<ArrayBuffer>, into: ElementArray<FileElementType>, position: number): void
}

export const descrOf: Readonly<Record<FileElementType, string>> = {
  f32: '<f4',
  i32: '<i4',
  u32: '<u4',
  f16: '<f2',
  u8: '|u1',
  i8: '|i1',
}
const numpyName: Readonly<Record<FileElementType, string>> = {
  f32: 'float32',
  i32: 'int32',
  u32: 'uint32',
  f16: 'float16',
  u8: 'uint8',
  i8: 'int8',
}
/** NumPy's complex64: pairs of f32. Only files have this type. */
export const complexDescr = '<c8'
const typeOf = Object.fromEntries(
  Object.entries(descrOf).map(([type, descr]) => [descr, type as FileElementType]),
)
/** The 64-bit types that `--cast` converts; NumPy uses them by default. */
const castTarget: Readonly<Record<string, NpyElementType>> = { '<f8': 'f32', '<i8': 'i32', '<u8': 'u32' }
const names: Readonly<Record<string, string>> = {
  '<f8': 'float64',
  '<i8': 'int64',
  '<u8': 'uint64',
  '<i2': 'int16',
  '<u2': 'uint16',
  '|b1': 'bool',
  '<c8': 'complex64',
  '<c16': 'complex128',
}

/**
 * `accepted` lists the types that the algorithm accepts, in order of preference; with `complex`, it prefers
 * complex numbers to all of them. For a file of another type, throws a `UsageError` that recommends `astype`,
 * or `--cast` if that would work.
 */
export function elementConversion(
  descr: string,
  options: {
    name: string
    accepted: readonly FileElementType[]
    cast: boolean
    complex?: boolean | undefined
  },
): ElementConversion {
  const { name, accepted, cast, complex = false } = options
  if (complex && descr === complexDescr) return { ...asItIs('f32'), complex }
  if (complex && cast && descr === '<c16') return { ...narrowing('<f8', 'f32', name), complex }
  const type = typeOf[descr]
  if (type !== undefined && accepted.includes(type)) return asItIs(type)
  const target = castTarget[descr]
  if (cast && target !== undefined && accepted.includes(target)) return narrowing(descr, target, name)

  const taken = [...(complex ? [names[complexDescr]!] : []), ...accepted.map((wanted) => numpyName[wanted])]
  const takes = taken.join(', ').replace(/, ([^,]+)$/, ' or $1')
  const casts = (target !== undefined && accepted.includes(target)) || (complex && descr === '<c16')
  const wanted = target !== undefined && accepted.includes(target) ? numpyName[target] : taken[0]
  const held =
    names[descr] ?? (type === undefined ? `type '${printable(descr.slice(0, 40))}'` : numpyName[type])
  const order = descr.startsWith('>') ? ' (big-endian)' : ''
  const castHint = casts ? `, or pass --cast` : ''
  throw new UsageError(
    `${name} contains ${held}${order}, but the command needs ${takes}: save it with a.astype('${wanted}')${castHint}.`,
    'bad-input',
  )
}

function asItIs(type: FileElementType): ElementConversion {
  return {
    type,
    complex: false,
    fileByteLength: elementByteLength[type],
    convert(bytes, into) {
      new Uint8Array(into.buffer, into.byteOffset, bytes.byteLength).set(bytes)
    },
  }
}

/**
 * Converts 64-bit to 32-bit elements. f64 is rounded to nearest, ties to even; a finite value outside the
 * target's range is an error.
 */
function narrowing(descr: string, type: NpyElementType, name: string): ElementConversion {
  const outside = (value: number | bigint, index: number) =>
    new UsageError(
      `${name} has ${value} at element ${index}, which does not fit in ${numpyName[type]}, so --cast cannot convert it.`,
      'bad-input',
    )
  return {
    type,
    complex: false,
    fileByteLength: 8,
    convert(bytes, into, position) {
      const count = bytes.byteLength / 8
      const buffer = bytes.byteOffset % 8 === 0 ? bytes.buffer : bytes.slice().buffer
      const offset = bytes.byteOffset % 8 === 0 ? bytes.byteOffset : 0
      if (descr === '<f8') {
        const wide = new Float64Array(buffer, offset, count)
        for (let i = 0; i < count; i++) {
          into[i] = wide[i]!
          if (!Number.isFinite(into[i]) && Number.isFinite(wide[i])) throw outside(wide[i]!, position + i)
        }
        return
      }
      const wide =
        descr === '<i8' ? new BigInt64Array(buffer, offset, count) : new BigUint64Array(buffer, offset, count)
      for (let i = 0; i < count; i++) {
        into[i] = Number(wide[i]!)
        if (BigInt(into[i]!) !== wide[i]) throw outside(wide[i]!, position + i)
      }
    },
  }
}
