// Three ranks: what the others learn of a rank that leaves a group.
import { setTimeout } from 'node:timers/promises'
import { expect } from 'vitest'
import { settled } from '../../native-addon.ts'
import { mpiSession } from '../../session.ts'

const session = await mpiSession()
const { addon, rank } = session
const opening = session.newOpening()
async function opened() {
  const group = opening.beginGroup().numberOf('group')
  const losses: string[] = []
  session.watchGroup(group, (_, message) => losses.push(message))
  await addon.openGroup(group)
  return { group, losses }
}
const leave = (group: number, reason = '') => addon.leave(group, 'device-lost', reason)

// A delivery between ranks 0 and 2 takes longer than a rank is given for what it still waits for, and rank 1
// has left before.
const first = await opened()
if (rank === 1) leave(first.group)
else {
  const bytes = new Uint8Array(1000).fill(rank)
  if (rank === 2) await setTimeout(4000)
  await settled(addon.deliver(first.group, 0, 2, 0, bytes))
  expect(bytes.every((byte) => byte === 2)).toBe(true)
}
expect(first.losses).toEqual([])
await session.gather('delivered')

// A rank that fails after another has left is told of.
const second = await opened()
if (rank === 1) leave(second.group)
await session.gather('rank 1 has left')
await setTimeout(300)
if (rank === 2) leave(second.group, 'This is the reason.')
await setTimeout(1000)
expect(second.losses).toEqual(
  rank === 2 ? [] : [expect.stringMatching(/^rank 2 \(.*\) failed: This is the reason\.$/)],
)
await session.gather('told')

// A delivery that needs the rank that has left fails.
const third = await opened()
if (rank === 1) leave(third.group)
if (rank === 0) {
  const waiting = settled(addon.deliver(third.group, 0, 1, 0, new Uint8Array(1000)))
  const reason = /^rank 1 \(.*\) makes no more calls, but this rank waits for one/
  await expect(waiting).rejects.toThrow(reason)
  await setTimeout(100)
  expect(third.losses).toEqual([expect.stringMatching(reason)])
}
await session.gather('failed')
console.log(`rank ${rank} knows who has left`)
process.exit(0)
