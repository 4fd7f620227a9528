import { expect, it } from 'vitest'
import { compileAll } from '../kernels/compile-all.ts'
import { referenceBackend } from '../testing/reference-backend.ts'
import { openGroup } from './group.ts'
import { OwnedResources } from './owned-resources.ts'

it('destroys its objects once, the newest first', () => {
  const order: string[] = []
  const owned = new OwnedResources()
  for (const name of ['a', 'b', 'c']) owned.keep({ destroy: () => order.push(name) })
  owned.destroy()
  owned.destroy()
  expect(order).toEqual(['c', 'b', 'a'])
})

it('keeps the objects that succeed when another one fails', async () => {
  const destroyed: number[] = []
  const owned = new OwnedResources()
  const make = async (value: number) => {
    if (value === 2) throw new RangeError('two')
    return { destroy: () => destroyed.push(value) }
  }
  await expect(owned.keepAll([1, 2, 3].map(make))).rejects.toThrow('two')
  owned.destroy()
  expect(destroyed).toEqual([3, 1])
})

it('compiles by name, skips undefined values, and leaves nothing behind if one fails', async () => {
  const group = await openGroup({ backends: [referenceBackend()] })
  const good = { wgsl: '@compute @workgroup_size(1) fn main() {}' }
  const { kernels, destroy } = await compileAll(group, { good, none: undefined })
  expect(kernels.good.workgroupSize).toEqual([1, 1, 1])
  expect(kernels.none).toBeUndefined()
  destroy()
  await expect(compileAll(group, { good, bad: { wgsl: 'fn' } })).rejects.toMatchObject({
    code: 'compilation',
  })
  expect(await group.destroy()).toEqual({ leaks: [] })
})
