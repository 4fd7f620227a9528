import { bench } from '../testing-bench.ts'
import { type ReductionReport, reduce } from './reduce.ts'
import { reductionKernelNames } from './reduction-kernels.ts'

await bench({ sizes: [4_194_304] }, async (group, { sizes, ...measuring }) => {
  const results = []
  for (const elements of sizes) {
    const ladder: ReductionReport[] = []
    for (const kernel of reductionKernelNames)
      ladder.push(
        await reduce(group, { elements, type: 'i32', kernel, compareSchedules: true, ...measuring }),
      )
    results.push({ elements, ladder, steps: stepsOf(ladder.filter(({ kernel }) => kernel !== 'atomic')) })
    results.push(await reduce(group, { elements, type: 'f32', compareSchedules: true, ...measuring }))
  }
  return results
})

/** The speed-up of each kernel over the previous one and over the first. */
function stepsOf(reports: readonly ReductionReport[]) {
  return reports.map(({ kernel, rate }, index) => ({
    kernel,
    rate,
    stepSpeedUp: index === 0 ? 1 : rate / reports[index - 1]!.rate,
    totalSpeedUp: rate / reports[0]!.rate,
  }))
}
