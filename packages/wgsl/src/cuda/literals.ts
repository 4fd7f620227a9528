import type { ScalarType } from '../ir.ts'

/** How C++ writes a WGSL constant. */
export function literalText(value: number | boolean, type: ScalarType): string {
  switch (type.scalar) {
    case 'bool':
      return value ? 'true' : 'false'
    case 'u32':
      return `${Number(value)}u`
    case 'i32':
      return value === -2147483648
        ? '(-2147483647 - 1)'
        : Number(value) < 0
          ? `(${value})`
          : `${Number(value)}`
    case 'f32':
      return floatText(Number(value))
    case 'f16':
      return `f16_bits(0x${halfBits(Number(value)).toString(16).padStart(4, '0')})`
  }
}

/** The shortest decimal that reads back as the same f32. */
function floatText(value: number): string {
  if (Object.is(value, -0)) return '(-0.0f)'
  let text = String(value)
  for (let digits = 1; digits < 10; digits++) {
    const shorter = Number(value.toPrecision(digits))
    if (Math.fround(shorter) === value) {
      text = String(shorter)
      break
    }
  }
  if (!/[.e]/.test(text)) text += '.0'
  return value < 0 ? `(${text}f)` : `${text}f`
}

/** The bits of a value that f16 holds exactly. */
function halfBits(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  const magnitude = Math.abs(value)
  if (magnitude === 0) return sign
  if (!Number.isFinite(magnitude)) return sign | 0x7c00
  const exponent = Math.max(Math.floor(Math.log2(magnitude)), -14)
  const scaled = magnitude / 2 ** exponent
  if (scaled >= 2) return sign | (((exponent + 16) << 10) + Math.round((scaled / 2 - 1) * 1024))
  if (scaled < 1) return sign | Math.round(scaled * 1024)
  return sign | (((exponent + 15) << 10) + Math.round((scaled - 1) * 1024))
}
