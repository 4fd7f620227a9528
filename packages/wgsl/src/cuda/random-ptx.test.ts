import { describe, expect, it } from 'vitest'
import { randomCollectives } from '../testing/random-collectives.ts'
import { randomComposites } from '../testing/random-composites.ts'
import { randomIdioms } from '../testing/random-idioms.ts'
import { randomKernel } from '../testing/random-kernel.ts'
import { randomLongFunctions } from '../testing/random-long-functions.ts'
import { randomTeamFunctions } from '../testing/random-team-functions.ts'
import { hasMatrices } from '../testing/random-types.ts'
import { testCases } from '../testing/test-cases.ts'
import { hasProgram, kernelCase, referenceRun, translate } from './testing/kernel-cases.ts'
import { kernelsPtx, ptxDifferences, ptxResults } from './testing/nvcc-ptx.ts'

/** The number of kernels that are compiled at a time. */
const batch = 20

describe.skipIf(!hasProgram('nvcc'))("random kernels in nvcc's PTX (needs nvcc)", () => {
  it.for([
    ['kernels', randomKernel, 20, 1000],
    ['composites', randomComposites, 40, 2000],
    ['idioms of integers', randomIdioms, 40, 2000],
    ['collective calls', randomCollectives, 20, 1000],
    ['functions that are not inlined', randomLongFunctions, 4, 200],
    ['such functions with barriers and subgroup operations', randomTeamFunctions, 4, 200],
  ] as const)(
    '%s give the same as on the reference executor, in both orders of the invocations',
    { timeout: 3_600_000 },
    ([, generate, short, long], { task }) => {
      const bad: string[] = []
      // The interpreter has no matrices.
      const seeds = testCases(short, long).filter((seed) => generate !== randomKernel || !hasMatrices(seed))
      for (let from = 0; from < seeds.length; from += batch) {
        const cases = seeds.slice(from, from + batch).map((seed) => kernelCase(`${seed}`, generate(seed)))
        const kernels = cases.map((c) => translate(c, 'clamp'))
        const module = kernelsPtx(kernels)
        for (const [i, c] of cases.entries()) {
          const expected = referenceRun(c)
          for (const order of ['rising', 'falling'] as const) {
            const found = ptxResults(c, kernels[i]!, module, `entry${i}`, order)
            for (const difference of ptxDifferences(c, found, expected))
              bad.push(`seed ${c.name}, ${order}, ${difference}`)
          }
        }
      }
      task.meta.cases = seeds.length
      expect(bad).toEqual([])
    },
  )
})
