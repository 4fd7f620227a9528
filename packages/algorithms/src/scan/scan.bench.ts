import { bench } from '../testing-bench.ts'
import { scan } from './scan.ts'

/** Running sums, and exclusive running maxima. */
await bench({ sizes: [65_536, 4_194_304] }, async (group, { sizes, ...measuring }) => {
  const results = []
  for (const elements of sizes) {
    const common = { elements, compareSchedules: true, ...measuring }
    results.push(await scan(group, { type: 'f32', ...common }))
    results.push(await scan(group, { type: 'i32', operation: 'max', exclusive: true, ...common }))
  }
  return results
})
