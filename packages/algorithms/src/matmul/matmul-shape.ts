/** Integer products and sums wrap modulo 2^32. */
export type MatmulType = 'f32' | 'i32' | 'u32'

/** m × n = (m × k) · (k × n). */
export interface MatmulShape {
  readonly m: number
  readonly n: number
  readonly k: number
}
