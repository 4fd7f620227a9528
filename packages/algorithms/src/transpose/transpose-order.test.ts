import { isDeepStrictEqual } from 'node:util'
import { openGroup, printPlan } from '@tandem-gpu/core'
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
import { recordTranspose } from './record-transpose.ts'
import { compileTranspose } from './transpose-kernels.ts'

describe('the order of a transpose', () => {
  it('has this plan for 1024 × 768 on 4 devices, the example of Ruetsch and Fatica', async () => {
    const group = await openGroup({ backends: [referenceBackend({ peerAccess: false })], devices: 4 })
    const kernel = await compileTranspose(group, { type: 'f32', kernel: 'square' })
    const input = await allocateSharded(group, 'f32', 768, 1024, { label: 'input' })
    const output = await allocateSharded(group, 'f32', 1024, 768, { label: 'output' })
    const program = group.record(
      (recorder) => void recordTranspose(recorder, group, { kernel, input, output }),
      {
        label: 'transpose 768 × 1024',
      },
    )
    expect(printPlan(program.plan)).toMatchSnapshot()
    await group.destroy()
  })

  it('copies every tile before it records the first transpose of one, and no copy waits for a transpose', async () => {
    const group = await openGroup({ backends: [referenceBackend()], devices: 3 })
    const kernel = await compileTranspose(group, { type: 'u32', kernel: 'registers' })
    const input = await allocateSharded(group, 'u32', 12, 12)
    const output = await allocateSharded(group, 'u32', 12, 12)
    const options = { kernel, input, output, transport: 'copy' } as const
    const program = group.record((recorder) => void recordTranspose(recorder, group, options))
    const { commands } = program.plan
    // After three local tiles.
    const kinds = commands.slice(3).map(({ kind }) => kind)
    expect(kinds).toEqual([...Array<string>(6).fill('copy'), ...Array<string>(6).fill('dispatch')])
    for (const { kind, after } of commands) if (kind === 'copy') expect(after).toEqual([])
    await group.destroy()
  })

  it.each([
    { transport: 'copy', devices: 2 },
    { transport: 'copy', devices: 3 },
    { transport: 'direct', devices: 3 },
    { transport: 'scatter', devices: 3 },
  ] as const)('needs every edge: $transport on $devices devices', async (options) => {
    const backend = referenceBackend()
    const group = await openGroup({ backends: [backend], devices: options.devices })
    const kernel = await compileTranspose(group, { type: 'u32', kernel: 'registers', scatter: true })
    const input = await allocateSharded(group, 'u32', 12, 12)
    const output = await allocateSharded(group, 'u32', 12, 12)
    const total = await allocateSharded(group, 'u32', 12, 12)
    const data = new Uint32Array(144)
    generatedElements('u32')(0, data)
    const increment = await recordIncrement(group)
    const accumulate = await recordAccumulate(group)
    const views = (matrix: ShardedMatrix<'u32'>) => matrix.slices.map((slice) => slice.view)
    const program = group.record((recorder) => {
      increment(recorder, views(input))
      recordTranspose(recorder, group, { kernel, input, output, ...options })
      accumulate(recorder, views(output), views(total))
    })
    const expected = data.map((_, index) => {
      const element = data[(index % 12) * 12 + Math.floor(index / 12)]!
      return accumulated([element + 1, element + 2, element + 3])
    })
    await expectEveryEdgeToMatter(backend, program, async () => {
      await writeSharded(group, input, data)
      await writeSharded(group, total, new Uint32Array(144))
      await group.queue.run(program, 3)
      return isDeepStrictEqual(await gatherSharded(group, total), expected)
    })
    await group.destroy()
  })
})
