import { f16OfBits } from '../frontend/bits.ts'

const scratch = new DataView(new ArrayBuffer(4))

/** The 16 bits of the half nearest to `value` (ties to even; overflow to infinity). */
export function halfBits(value: number): number {
  if (Number.isNaN(Number(value))) return 0x7e00
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  const magnitude = Math.abs(value)
  if (magnitude >= 65520) return sign | 0x7c00
  if (magnitude < 2 ** -14) return sign | roundHalfEven(magnitude * 2 ** 24)
  scratch.setFloat32(0, Math.fround(magnitude))
  let exponent = ((scratch.getUint32(0) >>> 23) & 0xff) - 127
  if (2 ** exponent > magnitude) exponent -= 1
  const fraction = roundHalfEven((magnitude / 2 ** exponent - 1) * 1024)
  return sign | (((exponent + 15) << 10) + fraction)
}

/** `value` rounded to the nearest half. */
export function roundToHalf(value: number): number {
  return f16OfBits(halfBits(value))
}

function roundHalfEven(x: number): number {
  const floor = Math.floor(x)
  const rest = x - floor
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor
}
