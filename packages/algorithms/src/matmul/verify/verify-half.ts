import type { ElementArray } from '@tandem-gpu/core'
import { type ElementSource, readElements } from '../../element-source.ts'
import type { Verification } from '../../report.ts'
import { halfValue, halfValues } from '../half/half-elements.ts'
import type { MatmulShape } from '../matmul-shape.ts'
import { addError, type MatmulVerifier, percent, referenceRows, verdict } from './verify-matmul.ts'

/**
 * Products of up to this many multiplications are checked in full; larger ones in as many rows as this
 * allows.
 */
const fullCheckOperations = 2 ** 27

export interface HalfVerifier {
  rows(first: number, data: ElementArray<'f16'> | ElementArray<'f32'>): Promise<void>
  readonly found: MatmulVerifier['found']
  result(found?: MatmulVerifier['found']): Verification
}

/**
 * Compares rows of C with f64, or all of C if the product is small. Sums in f32 must be within (k +
 * 2)·2^-24·Σ|a||b|, which holds for any order and for tensor cores, whose sums over 16 of k are truncated
 * instead of rounded. Results of f16 may differ by half a unit in the last place more, and must be infinite
 * if the sum may round to 65536.
 */
export async function halfVerifier(
  { m, n, k }: MatmulShape,
  a: ElementSource<'f16'>,
  b: ElementSource<'f16'>,
): Promise<HalfVerifier> {
  const whole = halfValues(await readElements(b, 'f16', 0, k * n))
  const checked = Math.min(m, Math.max(1, Math.floor(fullCheckOperations / Math.max(1, n * k))))
  const step = Math.max(1, Math.ceil(m / Math.max(1, checked)))
  const count = Math.ceil(m / step)
  const found = { maxError: 0, worst: 0 }
  return {
    found,
    async rows(first, data) {
      const rows = n === 0 ? 0 : data.length / n
      const isHalf = data instanceof Uint16Array
      for (let i = 0; i < rows; i++) {
        if ((first + i) % step !== 0) continue
        const row = halfValues(await readElements(a, 'f16', (first + i) * k, k))
        const { value, magnitude } = referenceRows('f32', 1, n, k, row, whole)
        for (let j = 0; j < n; j++) {
          const got = isHalf ? halfValue(data[i * n + j]!) : data[i * n + j]!
          const right = value[j]!
          if (Object.is(got, right) || (Number.isNaN(got) && Number.isNaN(right))) continue
          const sum = (k + 2) * 2 ** -24 * magnitude[j]! + k * 2 ** -149
          const bound = isHalf ? sum + 2 ** -11 * (Math.abs(right) + sum) + 2 ** -25 : sum
          if (isHalf && Math.abs(got) === Number.POSITIVE_INFINITY && Math.sign(got) === Math.sign(right)) {
            if (Math.abs(right) + sum < 65520) found.worst = Number.POSITIVE_INFINITY
            continue
          }
          const error = Math.abs(got - right)
          addError(found, error, error / bound)
        }
      }
    },
    result: (all = found) =>
      verdict(
        all,
        `${count === m ? 'every element' : `the elements of ${count} of ${m} rows`} against f64, within the bound of sums in f32 and of one rounding to the result's type; the largest error is ${percent(all)} of that`,
      ),
  }
}
