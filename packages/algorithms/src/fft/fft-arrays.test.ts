import { expect, it } from 'vitest'
import { describeOnBackends } from '../testing-groups.ts'
import type { FftPlanOptions } from './plan-fft.ts'
import { transformed } from './testing-transform.ts'
import { allowedError } from './verify-fft.ts'

const cases: readonly Omit<FftPlanOptions, 'limits'>[] = [
  { shape: [24] },
  { shape: [1, 24] },
  { shape: [9, 14] },
  { shape: [16, 1] },
  { shape: [5, 11], axes: [0] },
  { shape: [5, 12], axes: [-1], norm: 'ortho' },
  { shape: [2, 6], direction: 'inverse', norm: 'forward' },
  { shape: [4, 6, 10] },
  { shape: [8, 5, 3], axes: [0, 2] },
  { shape: [8, 5, 3], axes: [1], direction: 'inverse' },
  { shape: [7, 8, 1], norm: 'forward' },
  { shape: [3, 4, 5, 6] },
  { shape: [3, 4, 5, 6], axes: [0, 2] },
  { shape: [6, 8], real: true },
  { shape: [6, 9], real: true, direction: 'inverse' },
  { shape: [6, 9], real: true, axes: [1, 0] },
  { shape: [6, 9], real: true, axes: [1, 0], direction: 'inverse' },
  { shape: [4, 5, 6], real: true, norm: 'ortho' },
  { shape: [4, 5, 6], real: true, direction: 'inverse', norm: 'ortho' },
  { shape: [4, 5, 6], real: true, axes: [2, 1] },
  { shape: [4, 5, 6], real: true, axes: [0, 1, 2], direction: 'inverse' },
  { shape: [4, 5, 6], real: true, axes: [2, 0], direction: 'inverse' },
]

const transposedCases: readonly Omit<FftPlanOptions, 'limits'>[] = [
  { shape: [9, 14] },
  { shape: [9, 14], axes: [0] },
  { shape: [9, 14], axes: [1] },
  { shape: [4, 6, 10] },
  { shape: [4, 6, 1] },
  { shape: [4, 6, 10], axes: [1, 2], direction: 'inverse' },
  { shape: [4, 6, 10], axes: [2] },
  { shape: [4, 6, 10], axes: [1] },
  { shape: [6, 9], real: true },
  { shape: [6, 9], real: true, axes: [1, 0] },
  { shape: [6, 9], real: true, direction: 'inverse' },
  { shape: [4, 5, 6], real: true },
  { shape: [4, 5, 6], real: true, direction: 'inverse' },
  { shape: [4, 5, 6], real: true, axes: [2, 1], direction: 'inverse' },
]

const named = (options: object) => ({ name: JSON.stringify(options), options })

describeOnBackends('transforms of arrays', (backend) => {
  const lines = backend.name !== 'webgpu'
  it.each([
    ...cases.map((options) => named(options)),
    ...transposedCases.map((options) => named({ ...options, order: 'transposed' })),
  ])(
    'are right and have the same bits on any number of devices: $name',
    { timeout: 120_000 },
    async ({ options }) => {
      const bits: Uint32Array[] = []
      for (const devices of [1, 2, 3, 4, 7]) {
        const { plan, result, error } = await transformed(await backend.group(devices), {
          ...(options as Omit<FftPlanOptions, 'limits'>),
          limits: { lines },
        })
        expect(error).toBeLessThanOrEqual(allowedError(plan))
        bits.push(new Uint32Array(result.buffer))
        expect(bits.at(-1)).toEqual(bits[0])
      }
    },
  )
})
