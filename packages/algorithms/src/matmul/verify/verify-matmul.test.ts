import { expect, it } from 'vitest'
import { generatedElements } from '../../element-source.ts'
import { referenceMatmul } from '../../testing/reference-results.ts'
import { matmulVerifier } from './verify-matmul.ts'

const shape = { m: 20, n: 30, k: 40 }

it.each([
  ['f32', Float32Array, 1e-3],
  ['i32', Int32Array, 1],
] as const)('notices one wrong element of a product of %s', async (type, Elements, error) => {
  const a = new Elements(shape.m * shape.k)
  const b = new Elements(shape.k * shape.n)
  generatedElements(type, 1)(0, a as never)
  generatedElements(type, 2)(0, b as never)
  const c = referenceMatmul(type, shape, a as never, b as never)
  const verified = async () => {
    const verifier = await matmulVerifier(type, shape, a as never, b as never)
    await verifier.rows(0, c)
    return verifier.result().verified
  }
  expect(await verified()).toBe(true)
  c[77]! += error
  expect(await verified()).toBe(false)
})
