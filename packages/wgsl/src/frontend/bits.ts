import { halfBits, halfValue } from '../half-float.ts'
import type { ScalarType, Type, VectorType } from '../ir.ts'
import { ConstantError, type Value } from './constant-value.ts'

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
    else if (from.scalar === 'f16') view.setUint16(i * 2, halfBits(v), true)
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
        type.scalar === 'f16' ? halfValue(view.getUint16(index * 2, true)) : view.getFloat32(index * 4, true)
      if (!Number.isFinite(x)) throw new ConstantError(`the bits cast to ${x}, which is not a valid constant`)
      return x
    }
  }
}
