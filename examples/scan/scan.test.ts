import {
  allocateSharded,
  gatherSharded,
  generatedElements,
  type ShardedMatrix,
  writeSharded,
} from '@tandem-gpu/algorithms'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import { openGroup } from '@tandem-gpu/core'
import {
  accumulated,
  expectEveryEdgeToMatter,
  recordAccumulate,
  recordIncrement,
  referenceBackend,
} from '@tandem-gpu/core/testing'
import { describe, expect, it } from 'vitest'
import { blockLength, compileScan, recordScan } from './record-scan.ts'
import { scan } from './scan.ts'

describe('scan', () => {
  it('is exact on the software adapter with three devices, and leaves nothing behind', async () => {
    const group = await openGroup({ backends: [webgpu()], devices: 3, virtual: true })
    for (const elements of [0, 1, 255, 257, 70_000]) {
      const output = new Uint32Array(elements)
      const report = await scan(group, { elements, output })
      expect(report).toMatchObject({ verified: true, devices: 3 })
    }
    expect(await group.destroy()).toEqual({ leaks: [] })
  })

  it.each(['serial', 'workgroup'] as const)(
    '%s kernels give the sums in as many dispatches as small limits demand',
    async (variant) => {
      const limits = { maxStorageBindingByteLength: 4096, maxWorkgroupsPerDimension: 3 }
      const group = await openGroup({ backends: [referenceBackend({ limits })], devices: 2 })
      const elements = 5000
      const kernels = await compileScan(group, variant)
      const shape = { alignment: blockLength }
      const input = await allocateSharded(group, 'u32', elements, 1, shape)
      const output = await allocateSharded(group, 'u32', elements, 1, shape)
      await writeSharded(group, input, new Uint32Array(elements).fill(3))
      const program = group.record((r) => recordScan(r, kernels, input, output))
      await group.queue.run(program)
      expect(await gatherSharded(group, output)).toEqual(
        Uint32Array.from({ length: elements }, (_, i) => 3 * (i + 1)),
      )
      expect(program.plan.commands.length).toBeGreaterThan(10)
      await group.destroy()
    },
  )

  it('needs every edge', async () => {
    const backend = referenceBackend()
    const group = await openGroup({ backends: [backend], devices: 2 })
    const elements = 2 * blockLength
    const kernels = await compileScan(group, 'serial')
    const [input, output, total] = await Promise.all(
      [1, 2, 3].map(() => allocateSharded(group, 'u32', elements, 1, { alignment: blockLength })),
    )
    const increment = await recordIncrement(group)
    const accumulate = await recordAccumulate(group)
    const views = (matrix: ShardedMatrix<'u32'> | undefined) =>
      matrix!.slices.map(({ view, rows }) => view.reshape(1, rows))
    const program = group.record((r) => {
      increment(r, views(input))
      recordScan(r, kernels, input!, output!)
      accumulate(r, views(output), views(total))
    })
    const data = new Uint32Array(elements)
    generatedElements('u32')(0, data)
    let sum = 0
    const expected = data.map((value, i) => {
      sum += value
      return accumulated([1, 2, 3].map((repetition) => (sum + repetition * (i + 1)) >>> 0))
    })
    await expectEveryEdgeToMatter(backend, program, async () => {
      await writeSharded(group, input!, data)
      await writeSharded(group, total!, new Uint32Array(elements))
      await group.queue.run(program, 3)
      const found = await gatherSharded(group, total!)
      return found.every((value, i) => value === expected[i])
    })
    await group.destroy()
  })
})
