import { openGroup } from '@tandem-gpu/core'
import {
  accumulated,
  expectEveryEdgeToMatter,
  recordAccumulate,
  recordIncrement,
  referenceBackend,
} from '@tandem-gpu/core/testing'
import { expect, it } from 'vitest'
import { allocateSharded, writeSharded } from '../sharded-matrix.ts'
import { compileHistogram } from './histogram-kernels.ts'
import { recordHistogram } from './record-histogram.ts'

it.each([1, 2, 3])('the order of a histogram on %i devices needs every edge', async (devices) => {
  const backend = referenceBackend()
  const group = await openGroup({ backends: [backend], devices })
  const elements = 30 * devices
  const kernels = await compileHistogram(group, { type: 'u32', bins: 8, low: 0, high: 8 })
  const input = await allocateSharded(group, 'u32', elements, 1)
  const views = input.slices.map(({ view, rows }) => view.reshape(1, rows))
  const output = await group.devices[0]!.allocate('u32', 10)
  const total = await group.devices[0]!.allocate('u32', 10)
  const increment = await recordIncrement(group)
  const accumulate = await recordAccumulate(group)
  const program = group.record((recorder) => {
    increment(recorder, views)
    recordHistogram(recorder, { kernels, input: views, output })
    accumulate(recorder, [output], [total])
  })
  const data = Uint32Array.from({ length: elements }, (_, i) => (i * i) % 9)
  // The last bin includes its upper edge, 8; larger values are outside.
  const slot = (value: number) => (value === 8 ? 7 : Math.min(8, value))
  const countsAfter = (repetition: number) =>
    Array.from({ length: 10 }, (_, bin) =>
      data.reduce((n, value) => n + Number(slot(value + repetition) === bin), 0),
    )
  const expected = Array.from({ length: 10 }, (_, bin) =>
    accumulated([1, 2, 3].map((repetition) => countsAfter(repetition)[bin]!)),
  )
  await expectEveryEdgeToMatter(backend, program, async () => {
    await writeSharded(group, input, data)
    await group.queue.write(total, new Uint32Array(10))
    await group.queue.run(program, 3)
    return (await group.queue.read(total)).every((value, i) => value === expected[i])
  })
  expect(program.plan.commands.length).toBeGreaterThan(3)
  await group.destroy()
})
