import { bench } from '../testing-bench.ts'
import { jacobi } from './jacobi.ts'

await bench({ sizes: [512, 1024] }, async (group, { sizes, samples, warmup, repetitions }) => {
  const reports = []
  for (const size of sizes)
    for (const decomposition of ['1d', '2d'] as const)
      for (const transport of ['copy', 'auto'] as const)
        for (const residualEvery of [1, 100])
          reports.push({
            residualEvery,
            ...(await jacobi(group, {
              rows: size,
              columns: size,
              iterations: 10 * repetitions,
              residualEvery,
              decomposition,
              transport,
              samples,
              warmup,
            })),
          })
  return reports
})
