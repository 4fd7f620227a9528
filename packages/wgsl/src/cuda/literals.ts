import { halfBits } from '../half-float.ts'
import type { ScalarType } from '../ir.ts'
import { type CxxExpression, call, operation, primary, simple } from './cxx-expression.ts'
import type { Names } from './names.ts'

/** The C++ text of a WGSL constant. */
export function literalText(value: number | boolean, type: ScalarType, names: Names): CxxExpression {
  switch (type.scalar) {
    case 'bool':
      return simple(`${value}`)
    case 'u32':
      return simple(`${value}u`)
    case 'i32':
      if (value === -2147483648) return operation('-2147483647 - 1')
      return (Number(value) < 0 ? operation : simple)(`${value}`)
    case 'f32':
      return floatText(Number(value))
    case 'f16':
      return call(names.prelude('f16_bits'), [`0x${halfBits(Number(value)).toString(16).padStart(4, '0')}`])
  }
}

/**
 * The shortest decimal that reads back as the same f32, whether the compiler rounds it directly or through a
 * double.
 */
function floatText(value: number): CxxExpression {
  if (Object.is(value, -0)) return operation('-0.0f')
  let text = String(value)
  for (let digits = 1; digits < 10; digits++) {
    const shorter = Number(value.toPrecision(digits))
    // Also test a number slightly farther from the value: if the double is halfway between two f32 values,
    // C++ may round to the other one.
    const farther = shorter + (shorter - value) * 2 ** -20
    if (Math.fround(shorter) === value && Math.fround(farther) === value) {
      text = String(shorter)
      break
    }
  }
  if (!/[.e]/.test(text)) text += '.0'
  return (value < 0 ? operation : primary)(`${text}f`)
}
