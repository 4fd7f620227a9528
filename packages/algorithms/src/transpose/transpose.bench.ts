import { bench } from '../testing-bench.ts'
import { transpose } from './transpose.ts'

await bench({ sizes: [1024, 2048] }, async (group, { sizes, ...measuring }) => {
  const reports = []
  for (const size of sizes)
    for (const transport of ['auto', 'copy'] as const)
      reports.push({
        transport,
        ...(await transpose(group, {
          rows: size,
          columns: size,
          type: 'f32',
          transport,
          compareSchedules: true,
          ...measuring,
        })),
      })
  return reports
})
