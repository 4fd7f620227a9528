const bits = new DataView(new ArrayBuffer(8))

/**
 * The 16 bits of the half-precision number nearest to `value`, with ties to even and overflow to infinity.
 */
export function halfBits(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  const magnitude = Math.abs(value)
  // Not of the value itself: a NaN may be an object (see `floatValue`).
  if (Number.isNaN(magnitude)) return 0x7e00
  if (magnitude >= 65_520) return sign | 0x7c00
  if (magnitude < 2 ** -14) return sign | roundHalfEven(magnitude * 2 ** 24)
  bits.setFloat64(0, magnitude)
  const exponent = (bits.getUint32(0) >>> 20) - 1023
  const fraction = roundHalfEven((magnitude / 2 ** exponent - 1) * 1024)
  return sign | (((exponent + 15) << 10) + fraction)
}

function roundHalfEven(x: number): number {
  const floor = Math.floor(x)
  const rest = x - floor
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor
}

/** The number that the 16 bits of an f16 represent, including NaN and infinities. */
export function halfValue(half: number): number {
  const sign = half & 0x8000 ? -1 : 1
  const exponent = (half >> 10) & 31
  const fraction = half & 1023
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15))
}

/** Rounds `value` to the nearest f16, with ties to even and overflow to infinity. */
export function roundToHalf(value: number): number {
  return halfValue(halfBits(value))
}
