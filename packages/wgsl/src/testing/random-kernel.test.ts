import { expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { openDawnOracle } from './dawn-oracle.ts'
import { randomKernel } from './random-kernel.ts'

const dawn = await openDawnOracle()

it.skipIf(dawn === undefined)('random kernels are valid (needs npm webgpu)', async () => {
  const bad: string[] = []
  for (let seed = 0; seed < 200; seed++) {
    const source = randomKernel(seed)
    const errors = await dawn!(source)
    if (errors.length > 0) bad.push(`${seed}: Dawn says ${errors[0]}`)
    try {
      lower(parseWgsl(source))
    } catch (error) {
      bad.push(`${seed}: ${(error as Error).message}`)
    }
  }
  expect(bad).toEqual([])
})
