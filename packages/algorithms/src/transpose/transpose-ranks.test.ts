import { openGroup } from '@tandem-gpu/core'
import { imaginedRanks } from '@tandem-gpu/core/testing'
import { expect, it } from 'vitest'
import { allocateSharded } from '../sharded-matrix.ts'
import { recordTranspose } from './record-transpose.ts'
import { compileTranspose } from './transpose-kernels.ts'

it('a rank of 1,024 records the tiles that it sends or receives, and no others', async () => {
  const count = 1024
  const group = await openGroup({ backends: [imaginedRanks(5, count)] })
  const input = await allocateSharded(group, 'f32', 16 * count, 16 * count, { zero: false })
  const output = await allocateSharded(group, 'f32', 16 * count, 16 * count)
  const kernel = await compileTranspose(group, 'f32')
  const program = group.record((recorder) => {
    const tiles = recordTranspose(recorder, group, { kernel, input, output })
    expect(tiles).toHaveLength(2 * count - 1)
  })
  const kinds = program.plan.commands.map(({ kind }) => kind)
  const of = (kind: string) => kinds.filter((other) => other === kind).length
  expect({ sends: of('send'), receives: of('receive'), dispatches: of('dispatch') }).toEqual({
    sends: count - 1,
    receives: count - 1,
    dispatches: count,
  })
  expect(kinds).toHaveLength(3 * count - 2)
  await group.destroy()
})
