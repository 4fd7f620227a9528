import { bench } from '../testing-bench.ts'
import { ladderSteps, type ReductionReport, reduce } from './reduce.ts'
import { reductionKernelNames } from './reduction-kernels.ts'

await bench({ sizes: [4_194_304] }, async (group, { sizes, ...measuring }) => {
  const results = []
  for (const elements of sizes) {
    const ladder: ReductionReport[] = []
    for (const kernel of reductionKernelNames)
      ladder.push(
        await reduce(group, { elements, type: 'i32', kernel, compareSchedules: true, ...measuring }),
      )
    results.push({ elements, ladder, steps: ladderSteps(ladder.filter(({ kernel }) => kernel !== 'atomic')) })
    results.push(await reduce(group, { elements, type: 'f32', compareSchedules: true, ...measuring }))
  }
  return results
})
