import { expect, it } from 'vitest'
import { jacobi, matmul, reduce, transpose } from './index.ts'
import { ringMatmul } from './ring/ring-matmul.ts'
import { describeOnBackends } from './testing-groups.ts'

describeOnBackends('a group with debug', (backend) => {
  it.each([1, 3])('has nothing to say against the algorithms on %i devices', async (devices) => {
    const group = await backend.group(devices, { debug: true })
    const reports = [
      await transpose(group, { rows: 37, columns: 70, type: 'f32' }),
      await transpose(group, { rows: 64, columns: 64, type: 'u32', kernel: 'square' }),
      await reduce(group, { elements: 1001, type: 'i32' }),
      await reduce(group, { elements: 1001, type: 'f32', kernel: 'sequential' }),
      await matmul(group, { m: 33, k: 17, n: 70 }),
      await ringMatmul(group, { m: 33, k: 17, n: 70 }),
      await jacobi(group, { rows: 33, columns: 21, iterations: 9 }),
    ]
    expect(reports.map(({ verified }) => verified)).toEqual(reports.map(() => true))
  })
})
