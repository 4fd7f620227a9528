import { openGroup } from '@tandem-gpu/core'
import {
  accumulated,
  expectEveryEdgeToMatter,
  recordAccumulate,
  recordIncrement,
  referenceBackend,
} from '@tandem-gpu/core/testing'
import { describe, expect, it } from 'vitest'
import { generatedElements } from '../element-source.ts'
import { allocateSharded, writeSharded } from '../sharded-matrix.ts'
import { recordReduction } from './record-reduction.ts'
import { compileReduction, leafLength } from './reduction-kernels.ts'

describe('the order of a reduction', () => {
  it.each([
    { kernel: 'sequential', peerAccess: true },
    { kernel: 'sequential', peerAccess: false },
    { kernel: 'best', peerAccess: false },
    { kernel: 'atomic', peerAccess: true },
  ] as const)('needs every edge: $kernel, peer access $peerAccess', async ({ kernel, peerAccess }) => {
    const backend = referenceBackend({ peerAccess })
    const group = await openGroup({ backends: [backend], devices: 2 })
    const kernels = await compileReduction(group, { kernel, operation: 'sum', type: 'u32' })
    const elements = leafLength + 300
    const input = await allocateSharded(group, 'u32', elements, 1, { alignment: leafLength })
    const views = input.slices.map((slice) => slice.view.reshape(1, slice.rows))
    const output = await group.devices[0]!.allocate('u32', 1)
    const total = await group.devices[0]!.allocate('u32', 1)
    const data = new Uint32Array(elements)
    generatedElements('u32')(0, data)
    const increment = await recordIncrement(group)
    const accumulate = await recordAccumulate(group)
    const program = group.record((recorder) => {
      increment(recorder, views)
      recordReduction(recorder, group, { kernels, input: views, output })
      accumulate(recorder, [output], [total])
    })
    const sum = data.reduce((total, value) => (total + value) >>> 0, 0)
    const expected = accumulated([1, 2, 3].map((repetition) => (sum + repetition * elements) >>> 0))
    await expectEveryEdgeToMatter(
      backend,
      program,
      async () => {
        await writeSharded(group, input, data)
        await group.queue.write(total, new Uint32Array(1))
        await group.queue.run(program, 3)
        return (await group.queue.read(total))[0] === expected
      },
      { seeds: 4 },
    )
    expect(program.plan.commands.length).toBeGreaterThan(5)
    await group.destroy()
  })
})
