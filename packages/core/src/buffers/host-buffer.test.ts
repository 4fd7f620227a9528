import { expect, it } from 'vitest'
import { openGroup } from '../group/group.ts'
import { referenceBackend } from '../testing/reference-backend.ts'

it('rejects more host memory than there is with out-of-memory, and then allocates less', async () => {
  const group = await openGroup({ backends: [referenceBackend()], devices: 1 })
  expect(() => group.allocateHost('f32', 2 ** 46, { label: 'all of it' })).toThrow(
    expect.objectContaining({
      code: 'out-of-memory',
      message: 'The host has no room for the 281474976710656 bytes of host buffer "all of it".',
    }),
  )
  const host = group.allocateHost('f32', 4)
  expect(host.array).toEqual(new Float32Array(4))
  host.destroy()
  expect((await group.destroy()).leaks).toEqual([])
})
