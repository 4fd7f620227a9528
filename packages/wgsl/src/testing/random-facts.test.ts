import { expect, it } from 'vitest'
import { kernelCase, referenceRun, translate } from '../cuda/testing/kernel-cases.ts'
import { factChecker } from './fact-checker.ts'
import { randomKernel } from './random-kernel.ts'
import { testCases } from './test-cases.ts'

// One test per kernel, because mutation testing runs only the tests that reach a mutant. A kernel takes about
// 50 ms.
it.each(testCases(24, 1000).map((seed) => [seed]))(
  'every claim of the analyses holds while random kernel %i runs',
  (seed) => {
    const c = kernelCase(`random ${seed}`, randomKernel(seed))
    const { observer, failures } = factChecker(c.module)
    referenceRun(c, observer)
    expect([...failures]).toEqual([])
    for (const bounds of ['clamp', 'trap', 'unchecked'] as const)
      expect(translate(c, bounds).parts.body).toContain('__global__')
  },
)
