import { expect, it } from 'vitest'
import { type ProductErrors, tensorTargetsOf } from './tensor-targets.ts'

const errors = (input: string, k: number, split: number, cublas: number): ProductErrors => ({
  ...{ input, k, window: 64, rms: { split, 'cuBLAS f32': cublas }, largest: {}, sameInfNaN: true },
})

it('asks for an error of split products not above that of cuBLAS f32, for each kind of input from k = 256 on', () => {
  const targets = tensorTargetsOf({
    ours: [],
    peers: [],
    errors: [
      errors('uniform 0..1', 16, 2, 1),
      errors('uniform 0..1', 256, 1, 2),
      errors('uniform 0..1', 4096, 3.6, 3.6),
      errors('exponential', 256, 1, 2),
      errors('exponential', 4096, 3.7, 3.6),
      errors('sparse 1 %', 256, 2, 1),
    ],
  })
  expect(targets.map(({ row, measured, met }) => [row, measured, met])).toEqual([
    ['error of `split`, uniform 0..1, k ≥ 256', '0.50 to 1.00, the largest at 4096', true],
    ['error of `split`, exponential, k ≥ 256', '0.50 to 1.03, the largest at 4096', false],
  ])
})
