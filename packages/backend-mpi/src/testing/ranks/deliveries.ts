// Four ranks: two deliveries to all, from rank 0 and from rank 2, with the same tag; both reach rank 3
// through rank 2. Rank 0 is late.
import { expect } from 'vitest'
import { mpiSession } from '../../session.ts'

const session = await mpiSession()
const { addon, rank } = session
const group = session.newOpening().beginGroup().numberOf('group')
await addon.openGroup(group)
/**
 * A multiple of every number of tags that MPI may grant, and of powers of two, so that the two deliveries
 * have the same tag.
 */
const apart = 16_383 * 2 ** 15

for (const byteLength of [1000, 5_000_000]) {
  const arrays = [0, 2].map((owner) => new Uint8Array(byteLength).fill(rank === owner ? owner + 1 : 99))
  const deliver = (which: number) =>
    addon.deliver(group, byteLength + which * apart, which * 2, -1, arrays[which]!)
  if (rank === 0) await new Promise((resolve) => setTimeout(resolve, 300))
  await Promise.all([deliver(0), deliver(1)])
  expect(arrays.map((array) => [...new Set(array)])).toEqual([[1], [3]])
  await session.gather(`deliveries of ${byteLength} bytes`)
}
if (rank === 0) console.log('deliveries of one tag are right')
