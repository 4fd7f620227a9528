/** The components of a subgroup matrix, row by row. It is immutable, so invocations share it. */
export type MatrixValue = Float64Array

const double = new Float64Array(1)
const words = new Uint32Array(double.buffer)

/**
 * ⌊log2 |x|⌋, at least `least`. For 0, infinities and NaN, returns a value that no sum of two other exponents
 * can reach.
 */
function exponentOf(x: number, least: number): number {
  if (x === 0) return -4096
  double[0] = x
  const biased = (words[1]! >>> 20) & 0x7ff
  return biased === 0x7ff ? 8192 : Math.max(biased - 1023, least)
}

/** The exponents of factors; f16 values below 2^-14 are subnormal. */
function exponentsOf(values: MatrixValue): Int32Array {
  const exponents = new Int32Array(values.length)
  for (let i = 0; i < values.length; i++) exponents[i] = exponentOf(values[i]!, -14)
  return exponents
}

/**
 * `sum + left · right` for f16 factors, k = 16 and f32 sums, as computed by the tensor cores of an H100: the
 * products and the sum are truncated two bits below the last bit that the largest of them would have as an
 * f32, added exactly, and the result is truncated to f32 (Khattak and Mikaitis, "Accurate Models of NVIDIA
 * Tensor Cores", arXiv 2512.07004, 2025).
 */
export function tensorCoreSums(
  columns: number,
  left: MatrixValue,
  right: MatrixValue,
  sum: MatrixValue,
): MatrixValue {
  const [leftExponents, rightExponents] = [exponentsOf(left), exponentsOf(right)]
  const result = new Float64Array(sum.length)
  for (let i = 0; i < sum.length; i++) {
    const column = i % columns
    const row = ((i - column) / columns) * 16
    let largest = exponentOf(sum[i]!, -126)
    for (let k = 0; k < 16; k++) {
      const exponent = leftExponents[row + k]! + rightExponents[k * columns + column]!
      if (exponent > largest) largest = exponent
    }
    if (largest >= 1024) {
      let total = sum[i]!
      for (let k = 0; k < 16; k++) total += left[row + k]! * right[k * columns + column]!
      result[i] = Math.fround(total)
      continue
    }
    const scale = 2 ** (25 - Math.max(largest, -512))
    let total = Math.trunc(sum[i]! * scale)
    for (let k = 0; k < 16; k++) total += Math.trunc(left[row + k]! * right[k * columns + column]! * scale)
    const excess = 2 ** Math.max(0, 8 - Math.clz32(Math.abs(total)))
    result[i] = Math.fround((Math.trunc(total / excess) * excess) / scale)
  }
  return result
}
