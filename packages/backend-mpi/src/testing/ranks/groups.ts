// Every rank: two groups at once. The runs of one do not wait for those of the other, which the ranks start
// in different orders. Then many more groups at the same time.
import { type Backend, openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { expect } from 'vitest'
import { mpi } from '../../mpi.ts'
import { mpiSession } from '../../session.ts'
import { valueRing } from '../value-ring.ts'

const { rank } = await mpiSession()
const late = new Set<number>()
let asked = 0
/**
 * On rank 1, for the openings of these numbers, it takes long to report that there is nothing, so that this
 * rank opens others meanwhile.
 */
const slow: Backend = {
  name: 'slow',
  async adapters() {
    await new Promise((resolve) => setTimeout(resolve, rank === 1 && late.has(asked++) ? 200 : 0))
    return { adapters: [], absence: { code: 'no-device', reason: 'There is nothing.', remedy: '' } }
  },
  open: () => Promise.reject(new Error('There is nothing to open.')),
}
const backend = mpi(referenceBackend())
late.add(1)
const [first, second] = await Promise.all([0, 1].map(() => openGroup({ backends: [backend, slow] })))

// Two more: rank 1 requests the adapters of the first one last. The ranks still open them in the order of the
// calls.
late.add(2)
const more = await Promise.all([0, 1].map(() => openGroup({ backends: [slow, backend] })))
for (const [i, group] of more.entries()) {
  const label = `kernel of group ${i}`
  const kernel = await group.compile({ label, wgsl: '@compute @workgroup_size(1) fn main() {}' })
  kernel.destroy()
  expect(await group.destroy()).toEqual({ leaks: [] })
}
const [one, other] = [await valueRing(first!, 1000), await valueRing(second!, 2000)]

// Long work of rank 0 alone: its next run has not begun when the other group's run begins; on the other ranks
// that run has begun.
const memory = await first!.devices[0]!.allocate('u32', 1_000_000)
const long = first!.record((r) => r.fill(memory, 1))
await first!.queue.run(long)
const runs = [first!.queue.run(long, 3000), first!.queue.run(one.program, 4)]
await new Promise((resolve) => setTimeout(resolve, 200))
runs.push(second!.queue.run(other.program, 5))
await Promise.all(runs)
await one.expectTurns(4)
await other.expectTurns(5)

// Both at once, with messages of equal length between the same ranks.
await Promise.all([first!.queue.run(one.program, 300), second!.queue.run(other.program, 301)])
await one.expectTurns(304)
await other.expectTurns(306)

// A group continues while many others are opened and closed: it waits for none of them, however many there
// were.
for (let turn = 0; turn < 70; turn++) {
  const group = await openGroup({ backends: [backend] })
  const ring = await valueRing(group, 3000 + turn)
  // Only in the first group does it follow the long work of rank 0.
  const both = [first!.queue.run(long, turn % 32 === 27 ? 300 : 1), first!.queue.run(one.program, 1)]
  both.push(group.queue.run(ring.program, 1))
  if (turn % 2 === 0) await both.at(-1)
  await Promise.all(both)
  await ring.expectTurns(1)
  for (const owned of ring.owned) owned.destroy()
  expect(await group.destroy()).toEqual({ leaks: [] })
}
await one.expectTurns(374)
for (const owned of [memory, long, ...one.owned, ...other.owned]) owned.destroy()
for (const group of [first!, second!]) expect(await group.destroy()).toEqual({ leaks: [] })
if (first!.rank === 0) console.log('two groups at once are right')
