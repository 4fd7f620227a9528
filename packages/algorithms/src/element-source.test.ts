import { describe, expect, it } from 'vitest'
import { generatedElements, readElements, requireLength } from './element-source.ts'

describe('generatedElements', () => {
  it('gives an index the same element in every range', async () => {
    const whole = await readElements(generatedElements('u32', 7), 'u32', 0, 1000)
    const part = await readElements(generatedElements('u32', 7), 'u32', 300, 50)
    expect(part).toEqual(whole.slice(300, 350))
    expect(new Set(whole).size).toBeGreaterThan(990)
  })

  it('depends on the seed, also beyond 2^32 elements', async () => {
    const at = (seed: number, offset: number) =>
      readElements(generatedElements('i32', seed), 'i32', offset, 4)
    expect(await at(1, 0)).not.toEqual(await at(2, 0))
    expect(await at(1, 0)).not.toEqual(await at(1, 2 ** 32))
  })

  it('distributes f32 uniformly over [-1, 1)', async () => {
    const data = await readElements(generatedElements('f32'), 'f32', 0, 100_000)
    expect(Math.min(...data.subarray(0, 10_000))).toBeGreaterThanOrEqual(-1)
    expect(Math.max(...data.subarray(0, 10_000))).toBeLessThan(1)
    const mean = data.reduce((sum, value) => sum + value, 0) / data.length
    // Six standard errors of the mean of a uniform variable.
    expect(Math.abs(mean)).toBeLessThan((6 * 2) / Math.sqrt(12 * data.length))
  })
})

it('requireLength names both lengths', () => {
  expect(() => requireLength('The input', new Float32Array(3), 4)).toThrow(
    'The input holds 3 elements, the shape needs 4.',
  )
  expect(() => requireLength('The input', () => undefined, 4)).not.toThrow()
})
