import { expect, it } from 'vitest'
import { openGroup } from '../group/group.ts'
import { expectEveryEdgeToMatter } from './edges-matter.ts'
import { withoutEdge } from './plan-edges.ts'
import { referenceBackend } from './reference-backend.ts'
import { accumulated, recordAccumulate, recordIncrement } from './repeated-work.ts'

async function program() {
  const backend = referenceBackend()
  const group = await openGroup({ backends: [backend], devices: 2 })
  const [first, second] = group.devices
  const data = await first!.allocate('u32', 4)
  const moved = await second!.allocate('u32', 4)
  const total = await second!.allocate('u32', 4)
  const increment = await recordIncrement(group)
  const accumulate = await recordAccumulate(group)
  const recorded = group.record((r) => {
    increment(r, [data])
    r.copy(data, moved)
    accumulate(r, [moved], [total])
  })
  const run = async () => {
    await group.queue.write(data, new Uint32Array(4))
    await group.queue.write(total, new Uint32Array(4))
    await group.queue.run(recorded, 3)
    return (await group.queue.read(total)).every((value) => value === accumulated([1, 2, 3]))
  }
  return { backend, recorded, run, group }
}

it('passes if every edge matters, and leaves the backend as it was', async () => {
  const { backend, recorded, run, group } = await program()
  await expectEveryEdgeToMatter(backend, recorded, run)
  expect(backend.seed).toBe(1)
  expect(backend.transformPlan).toBeUndefined()
  await group.destroy()
})

it('names the edges that a check does not notice', async () => {
  const { backend, recorded, group } = await program()
  await expect(expectEveryEdgeToMatter(backend, recorded, async () => true)).rejects.toThrow(
    /correct result if one of these edges is missing, in 12 orders: .*0 increment → 1 copy/,
  )
  await group.destroy()
})

it('fails if the program lacks an edge that it needs', async () => {
  const { backend, recorded, run, group } = await program()
  const broken = async () => {
    backend.transformPlan = (plan) => withoutEdge(plan, 0, 1)
    return run()
  }
  await expect(expectEveryEdgeToMatter(backend, recorded, broken)).rejects.toThrow(
    /wrong result with all its edges/,
  )
  await group.destroy()
})
