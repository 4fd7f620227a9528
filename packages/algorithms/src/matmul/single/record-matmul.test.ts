import { openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { expect, it } from 'vitest'
import { allocateSharded } from '../../sharded-matrix.ts'
import { compileMatmul } from './matmul-kernels.ts'
import { recordShardedMatmul } from './record-matmul.ts'

it('recordShardedMatmul takes columns of A that pad it to a multiple of four, and no other sizes', async () => {
  const group = await openGroup({ backends: [referenceBackend()], devices: 2 })
  const blocking = { body: 'registers', tileRows: 32, tileColumns: 32, parts: 1 } as const
  const kernels = await compileMatmul(group, 'f32', blocking)
  const b = await allocateSharded(group, 'f32', 5, 6)
  const c = await allocateSharded(group, 'f32', 3, 6)
  const recorded = async (columns: number) => {
    const a = await allocateSharded(group, 'f32', 3, columns)
    try {
      group.record((r) => recordShardedMatmul(r, () => kernels, a, b, c)).destroy()
    } finally {
      a.destroy()
    }
  }
  await recorded(5)
  await recorded(8)
  for (const columns of [4, 9, 20])
    await expect(recorded(columns)).rejects.toMatchObject({
      code: 'validation',
      message: `Matmul of 3 × ${columns} by 5 × 6 into 3 × 6: the inner sizes must be equal, except for columns that pad A to a multiple of four, and the outer sizes must be those of the result.`,
    })
  for (const resource of [kernels, b, c]) resource.destroy()
  expect(await group.destroy()).toEqual({ leaks: [] })
})
