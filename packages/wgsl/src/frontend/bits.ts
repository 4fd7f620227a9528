import type { ScalarType, Type, VectorType } from '../ir.ts'
import { ConstantError, type Value } from './constant-value.ts'

/** The 16 bits of a number that is already rounded to f16. */
export function bitsOfF16(x: number): number {
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0
  const magnitude = Math.abs(x)
  if (magnitude === 0) return sign
  if (magnitude < 2 ** -14) return sign | Math.round(magnitude * 2 ** 24)
  let exponent = Math.floor(Math.log2(magnitude))
  if (magnitude >= 2 ** (exponent + 1)) exponent++
  else if (magnitude < 2 ** exponent) exponent--
  return sign | ((exponent + 15) << 10) | Math.round((magnitude / 2 ** exponent - 1) * 1024)
}

/** The number that 16 bits of an f16 stand for; NaN and infinities included. */
export function f16OfBits(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 31
  const fraction = bits & 1023
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15))
}

/** Reinterprets the bits of a constant; throws when the result is not finite. */
export function bitcastValue(
  value: Value,
  from: ScalarType | VectorType,
  to: ScalarType | VectorType,
): Value {
  const components = (Array.isArray(value) ? value : [value]) as number[]
  const view = new DataView(new ArrayBuffer(16))
  for (const [i, v] of components.entries()) {
    if (from.scalar === 'f32') view.setFloat32(i * 4, v, true)
    else if (from.scalar === 'f16') view.setUint16(i * 2, bitsOfF16(v), true)
    else view.setUint32(i * 4, v >>> 0, true)
  }
  const count = to.kind === 'vector' ? to.size : 1
  const result = Array.from({ length: count }, (_, i) => readScalar(view, i, to))
  return to.kind === 'vector' ? result : result[0]!
}

function readScalar(view: DataView, index: number, type: Extract<Type, { scalar: unknown }>): number {
  switch (type.scalar) {
    case 'i32':
      return view.getInt32(index * 4, true)
    case 'u32':
      return view.getUint32(index * 4, true)
    default: {
      const x =
        type.scalar === 'f16' ? f16OfBits(view.getUint16(index * 2, true)) : view.getFloat32(index * 4, true)
      if (!Number.isFinite(x)) throw new ConstantError(`the bits cast to ${x}, which no constant may be`)
      return x
    }
  }
}
