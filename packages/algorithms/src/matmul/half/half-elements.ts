import type { ElementArray } from '@tandem-gpu/core'
import { type ElementReader, generatedElements } from '../../element-source.ts'

const bits = new Uint32Array(1)
const single = new Float32Array(bits.buffer)

/** The bits of the f16 nearest to an f32, ties to even; infinity from 65520 on. */
export function halfBits(value: number): number {
  single[0] = value
  const sign = (bits[0]! >>> 16) & 0x8000
  const magnitude = bits[0]! & 0x7fffffff
  if (magnitude > 0x7f800000) return sign | 0x7e00
  if (magnitude >= 0x477ff000) return sign | 0x7c00
  if (magnitude < 0x38800000) {
    const scaled = Math.abs(single[0]!) * 2 ** 24
    const floor = Math.floor(scaled)
    const rest = scaled - floor
    return sign | (rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor)
  }
  return sign | ((magnitude + 0xfff + ((magnitude >>> 13) & 1) - 0x38000000) >>> 13)
}

/** The value of the f16 with these bits. */
export function halfValue(half: number): number {
  const sign = half & 0x8000 ? -1 : 1
  const exponent = (half >>> 10) & 31
  const fraction = half & 1023
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25)
}

/** The values of f16 in f32. */
export function halfValues(halves: ElementArray<'f16'>): Float32Array<ArrayBuffer> {
  return Float32Array.from(halves, halfValue)
}

/** Reproducible elements: those of f32, uniform in [-1, 1), rounded to f16. */
export function generatedHalves(seed: number): ElementReader<'f16'> {
  const singles = generatedElements('f32', seed)
  return async (offset, into) => {
    const values = new Float32Array(into.length)
    await singles(offset, values)
    for (const [i, value] of values.entries()) into[i] = halfBits(value)
  }
}
