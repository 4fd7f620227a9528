import { bench } from '../testing-bench.ts'
import { fft } from './fft.ts'

/** Lines of these lengths, 2^20 values in all, and cubes. */
await bench({ sizes: [64, 256, 1000, 1009, 1024, 4096, 65_536] }, async (group, { sizes, ...measuring }) => {
  const results = []
  for (const length of sizes)
    for (const real of [false, true]) {
      const shape = [Math.max(1, Math.floor(2 ** 20 / length)), length]
      results.push(await fft(group, { shape, axes: [1], real, compareSchedules: true, ...measuring }))
    }
  for (const order of ['natural', 'transposed'] as const)
    results.push(await fft(group, { shape: [64, 128, 128], order, compareSchedules: true, ...measuring }))
  return results
})
