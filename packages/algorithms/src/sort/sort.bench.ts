import { bench } from '../testing-bench.ts'
import { sort } from './sort.ts'

/** Keys alone, and keys with their indices. */
await bench({ sizes: [65_536, 1_048_576] }, async (group, { sizes, ...measuring }) => {
  const results = []
  for (const elements of sizes) {
    const common = { elements, compareSchedules: true, ...measuring }
    results.push(await sort(group, { type: 'u32', ...common }))
    results.push(await sort(group, { type: 'f32', indices: () => {}, ...common }))
  }
  return results
})
