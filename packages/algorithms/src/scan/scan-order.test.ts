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
import { allocateSharded, gatherSharded, type ShardedMatrix, writeSharded } from '../sharded-matrix.ts'
import { recordScan } from './record-scan.ts'
import { compileScan, scanTileLength } from './scan-kernels.ts'

describe('the order of a scan', () => {
  it.each([
    { devices: 2, tiles: 2, peerAccess: false },
    { devices: 2, tiles: 2, peerAccess: true },
    // The sum of the last tile is not needed.
    { devices: 3, tiles: 6, peerAccess: false },
  ])(
    'needs every edge on $devices devices, peer access $peerAccess',
    async ({ devices, tiles, peerAccess }) => {
      const backend = referenceBackend({ peerAccess })
      const group = await openGroup({ backends: [backend], devices })
      const elements = tiles * scanTileLength
      const kernels = await compileScan(group, { type: 'u32', variant: 'serial' })
      const [input, output, total] = await Promise.all(
        [1, 2, 3].map(() => allocateSharded(group, 'u32', elements, 1, { alignment: scanTileLength })),
      )
      const increment = await recordIncrement(group)
      const accumulate = await recordAccumulate(group)
      const views = ({ slices }: ShardedMatrix<'u32'>) =>
        slices.map(({ view, rows }) => view.reshape(1, rows))
      const program = group.record((recorder) => {
        increment(recorder, views(input!))
        recordScan(recorder, group, { kernels, input: views(input!), output: views(output!) })
        accumulate(recorder, views(output!), views(total!))
      })
      const data = new Uint32Array(elements)
      generatedElements('u32')(0, data)
      let sum = 0
      const expected = data.map((value, i) => {
        sum += value
        return accumulated([1, 2, 3].map((repetition) => (sum + repetition * (i + 1)) >>> 0))
      })
      await expectEveryEdgeToMatter(
        backend,
        program,
        async () => {
          await writeSharded(group, input!, data)
          await writeSharded(group, total!, new Uint32Array(elements))
          await group.queue.run(program, 3)
          const found = await gatherSharded(group, total!)
          return found.every((value, i) => value === expected[i])
        },
        { seeds: 8 },
      )
      expect(program.plan.commands.length).toBeGreaterThan(5)
      await group.destroy()
    },
  )
})
