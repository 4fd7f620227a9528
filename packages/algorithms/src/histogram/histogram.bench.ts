import { bench } from '../testing-bench.ts'
import { histogram } from './histogram.ts'

/** Even bins, given edges of the same width, and more bins than fit into workgroup memory. */
await bench({ sizes: [4_194_304] }, async (group, { sizes, ...measuring }) => {
  const results = []
  for (const elements of sizes)
    for (const bins of [
      { bins: 256, low: -1, high: 1 },
      { edges: Array.from({ length: 257 }, (_, k) => -1 + k / 128) },
      { bins: 10_000, low: -1, high: 1 },
    ])
      results.push(
        await histogram(group, { elements, type: 'f32', ...bins, compareSchedules: true, ...measuring }),
      )
  return results
})
