import { openGroup, type Program } from '@tandem-gpu/core'
import { recordIncrement, referenceBackend } from '@tandem-gpu/core/testing'
import { expect, it } from 'vitest'
import { jacobi, matmul, reduce, ringMatmul, transpose } from './index.ts'
import { runMeasured } from './run-measured.ts'

it('shows the program, runs it as asked, and destroys it', async () => {
  const backend = referenceBackend()
  const group = await openGroup({ backends: [backend] })
  const data = await group.devices[0]!.allocate('u32', 4)
  const increment = await recordIncrement(group)
  const programs: Program[] = []
  const { measurement, comparison } = await runMeasured(group, (r) => increment(r, [data]), {
    label: 'count',
    warmup: 2,
    samples: 3,
    repetitions: 4,
    onProgram: (program) => programs.push(program),
  })
  expect(await group.queue.read(data)).toEqual(new Uint32Array(4).fill(2 + 3 * 4))
  expect(measurement.samples.length).toBe(3)
  expect(comparison).toBeUndefined()
  expect(programs.map(({ label, schedule }) => [label, schedule])).toEqual([['count', 'overlapped']])
  await expect(group.queue.run(programs[0]!)).rejects.toThrow('is destroyed')
  data.destroy()
  const { leaks } = await group.destroy()
  expect(leaks.map(({ kind }) => kind)).toEqual(['kernel'])
})

it('a comparison warms both schedules up and takes five samples of each at least, and every algorithm reports one of its times', async () => {
  const backend = referenceBackend()
  const group = await openGroup({ backends: [backend], devices: 2 })
  const data = await group.devices[0]!.allocate('u32', 1)
  const increment = await recordIncrement(group)
  const { comparison } = await runMeasured(group, (r) => increment(r, [data]), {
    warmup: 0,
    compareSchedules: true,
  })
  expect((await group.queue.read(data))[0]).toBe(1 + 2 * (1 + 5))
  const { serialSeconds, overlappedSeconds, speedUp } = comparison!
  expect(speedUp).toBe(serialSeconds / overlappedSeconds)
  const options = { compareSchedules: true, warmup: 0 }
  const reports = [
    await transpose(group, { rows: 3, columns: 5, type: 'f32', ...options }),
    await reduce(group, { elements: 9, type: 'f32', ...options }),
    await matmul(group, { m: 3, n: 2, k: 4, ...options }),
    await ringMatmul(group, { m: 3, n: 2, k: 4, ...options }),
    await jacobi(group, { rows: 6, columns: 7, iterations: 4, ...options }),
  ]
  for (const { algorithm, verified, seconds, comparison } of reports) {
    expect([algorithm, verified, seconds]).toEqual([algorithm, true, comparison!.overlappedSeconds])
    expect(comparison!.speedUp).toBeGreaterThan(0)
  }
  await group.destroy()
})
