/** The number of vectors by which a matrix is multiplied at a time. */
export const vectorCount = 8

/**
 * result[(offset + i)·8 + r] = Σ_j data[i·width + j] · vectors[j·8 + r] in f64. The sums of a row are in
 * eight variables, and blocks of 256 elements of the vectors stay in the L1 cache. This is three times as
 * fast as sums in an array, and saves seconds for large products.
 */
export function multiplyFloats(
  data: Float32Array,
  rows: number,
  width: number,
  vectors: Float64Array,
  result: Float64Array,
  offset: number,
): void {
  result.fill(0, offset * vectorCount, (offset + rows) * vectorCount)
  for (let first = 0; first < width; first += 256) {
    const end = Math.min(width, first + 256)
    for (let i = 0; i < rows; i++) {
      const to = (offset + i) * vectorCount
      let [s0, s1, s2, s3] = [result[to]!, result[to + 1]!, result[to + 2]!, result[to + 3]!]
      let [s4, s5, s6, s7] = [result[to + 4]!, result[to + 5]!, result[to + 6]!, result[to + 7]!]
      for (let j = first, at = first * vectorCount, from = i * width; j < end; j++, at += vectorCount) {
        const value = data[from + j]!
        s0 += value * vectors[at]!
        s1 += value * vectors[at + 1]!
        s2 += value * vectors[at + 2]!
        s3 += value * vectors[at + 3]!
        s4 += value * vectors[at + 4]!
        s5 += value * vectors[at + 5]!
        s6 += value * vectors[at + 6]!
        s7 += value * vectors[at + 7]!
      }
      result.set([s0, s1, s2, s3, s4, s5, s6, s7], to)
    }
  }
}
