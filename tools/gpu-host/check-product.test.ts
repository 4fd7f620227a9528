import { describe, expect, it } from 'vitest'
import { type PeriodicMatrix, ProductChecker, SharedResult } from './check-product.ts'

function periodic(length: number, shift: number): PeriodicMatrix {
  const block = new Float32Array(new SharedArrayBuffer(4 * length))
  for (let i = 0; i < length; i++) block[i] = Math.sin(i)
  return { block, shift }
}

describe('the check of a product', () => {
  it('accepts the rounded product and finds one wrong element by the sums of its row', async () => {
    const shape = { m: 70, n: 300, k: 40 }
    const { m, n, k } = shape
    const [a, b] = [periodic(97, 0), periodic(97, 5)]
    const at = ({ block, shift }: PeriodicMatrix, index: number) => block[(index + shift) % block.length]!
    const c = new SharedResult(m, n, 7 * n + 3)
    const row = new Float32Array(n)
    for (let i = 0; i < m; i++)
      for (let j = 0; j < n; j++) {
        let sum = 0
        for (let q = 0; q < k; q++) sum += at(a, i * k + q) * at(b, q * n + j)
        row[j] = sum
        if (j === n - 1) c.set(i * n, row)
      }
    const checker = new ProductChecker()
    try {
      expect(await checker.check(shape, a, b, c, { factor: k + 2 })).toMatchObject({ verified: true })
      expect(c.bands.length).toBe(10)
      const right = c.element(69, 299)
      c.set(70 * n - 1, Float32Array.of(right + 0.01))
      const wrong = await checker.check(shape, a, b, c, { factor: k + 2 })
      expect(wrong.verified).toBe(false)
      c.set(70 * n - 1, Float32Array.of(Number.NaN))
      expect((await checker.check(shape, a, b, c, { factor: k + 2 })).verified).toBe(false)
    } finally {
      await checker.close()
    }
  })
})
