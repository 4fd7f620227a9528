import { halfBits } from '@tandem-gpu/wgsl'
import type { ElementType } from '../buffers/element-type.ts'
import { describedValue } from '../described-value.ts'
import { invalid } from '../errors.ts'

export type UniformScalar = 'f32' | 'i32' | 'u32' | 'f16'

const ranges = {
  i32: [-(2 ** 31), 2 ** 31 - 1],
  u32: [0, 2 ** 32 - 1],
  i8: [-128, 127],
  u8: [0, 255],
} as const

/** The greatest finite number, and the least number that is rounded to an infinity. */
const floats = {
  f32: { most: (2 - 2 ** -23) * 2 ** 127, firstInfinite: (2 - 2 ** -24) * 2 ** 127 },
  f16: { most: 65_504, firstInfinite: 65_520 },
} as const

/**
 * Throws `validation` unless `value` is a number that the type can hold. Float types round numbers, but not to
 * an infinity.
 */
export function requireScalar(value: number, type: ElementType, what: string): void {
  if (typeof value !== 'number')
    throw invalid(`${what} is ${describedValue(value)}; it must be a number of type ${type}.`)
  if (type === 'f32' || type === 'f16') {
    const { most, firstInfinite } = floats[type]
    if (Number.isFinite(value) && Math.abs(value) >= firstInfinite)
      throw invalid(`${what} is ${value}; ${type} holds finite numbers from ${-most} to ${most}.`)
    return
  }
  const [low, high] = ranges[type]
  if (!Number.isInteger(value) || value < low || value > high)
    throw invalid(`${what} is ${value}; ${type} holds whole numbers from ${low} to ${high}.`)
}

const setters = { f32: 'setFloat32', i32: 'setInt32', u32: 'setUint32', f16: 'setUint16' } as const

/** Writes a checked scalar, little endian. */
export function storeScalar(view: DataView, byteOffset: number, type: UniformScalar, value: number): void {
  view[setters[type]](byteOffset, type === 'f16' ? halfBits(value) : value, true)
}

const scratch = new DataView(new ArrayBuffer(4))

/** The bit pattern of a checked scalar as an unsigned number. */
export function scalarBits(type: ElementType, value: number): number {
  if (type === 'u8' || type === 'i8') return value & 0xff
  scratch.setUint32(0, 0, true)
  storeScalar(scratch, 0, type, value)
  return scratch.getUint32(0, true)
}
