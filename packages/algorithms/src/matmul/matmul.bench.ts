import { bench } from '../testing-bench.ts'
import { matmul } from './matmul.ts'

await bench({ sizes: [256, 512] }, async (group, { sizes, ...measuring }) => {
  const reports = []
  for (const size of sizes)
    for (const mode of ['resident', 'streamed'] as const)
      for (const [m, n] of [
        [size, size],
        [64, size],
        [size, 64],
      ] as const)
        reports.push(await matmul(group, { m, n, k: size, mode, ...measuring }))
  return reports
})
