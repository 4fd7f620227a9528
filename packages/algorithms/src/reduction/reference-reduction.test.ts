import { describe, expect, it } from 'vitest'
import { referenceReduction } from '../testing/reference-results.ts'
import { verifyReduction } from './reference-reduction.ts'

const bits = (value: number) => new Uint32Array(new Float32Array([value]).buffer)[0]!

describe('verifyReduction', () => {
  const sumOf = async (values: number[]) => {
    const problem = { type: 'f32', operation: 'sum', length: values.length } as const
    const reference = await referenceReduction(new Float32Array(values), problem)
    return (value: number) => verifyReduction('best', problem, reference, bits(value))
  }

  it('accepts a sum within the bound and rejects one outside', async () => {
    const check = await sumOf([1, 2, 3, 4])
    expect(check(10)).toMatchObject({ verified: true, maxError: 0 })
    expect(check(10.000001)).toMatchObject({ verified: true })
    expect(check(10.001)).toMatchObject({ verified: false })
    expect(check(Number.NaN)).toMatchObject({ verified: false })
  })

  it('scales the bound with the magnitudes, not with the sum', async () => {
    const check = await sumOf([1e8, -1e8, 1])
    expect(check(0)).toMatchObject({ verified: true, maxError: 1 })
    expect(check(1e6)).toMatchObject({ verified: false })
  })

  it('requires the infinity or the NaN that the input implies', async () => {
    expect((await sumOf([1, Number.POSITIVE_INFINITY]))(Number.POSITIVE_INFINITY).verified).toBe(true)
    expect((await sumOf([1, Number.POSITIVE_INFINITY]))(3e38).verified).toBe(false)
    expect((await sumOf([Number.NaN, 1]))(Number.NaN).verified).toBe(true)
    expect((await sumOf([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]))(0).verified).toBe(false)
  })

  it('allows a partial sum to overflow only if the magnitudes can', async () => {
    expect((await sumOf([3e38, 3e38, -3e38]))(Number.POSITIVE_INFINITY).verified).toBe(true)
    expect((await sumOf([1e38, 1e38]))(Number.POSITIVE_INFINITY).verified).toBe(false)
  })

  it('is exact for integers and for minimum and maximum', async () => {
    const problem = { type: 'i32', operation: 'sum', length: 2 } as const
    const reference = await referenceReduction(new Int32Array([2147483647, 1]), problem)
    expect(reference.value).toBe(-2147483648)
    expect(verifyReduction('sequential', problem, reference, 0x80000000).verified).toBe(true)
    expect(verifyReduction('sequential', problem, reference, 0x80000001)).toMatchObject({
      verified: false,
      maxError: 1,
    })
    const minimum = { type: 'f32', operation: 'min', length: 2 } as const
    const zeros = await referenceReduction(new Float32Array([0, -0]), minimum)
    expect(verifyReduction('best', minimum, zeros, 0x80000000).verified).toBe(true)
    expect(verifyReduction('best', minimum, zeros, 0).verified).toBe(false)
  })
})
