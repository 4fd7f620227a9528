// Every rank: passes values round the ranks for a long time; rank 1 aborts. All stop after the same
// repetition, and continue from there. Then rank 0 aborts a run that rank 1 has finished.
import { isGpuError, openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { expect } from 'vitest'
import { mpi } from '../../mpi.ts'
import { valueRing } from '../value-ring.ts'

const group = await openGroup({ backends: [mpi(referenceBackend())] })
const { devices, queue, rank } = group
const ring = await valueRing(group)
let done = 0
// Busy machines may take longer to begin; then the next abort comes later. All ranks count in the same way.
for (let delay = 300; done === 0; delay *= 2) {
  const controller = new AbortController()
  if (rank === 1) setTimeout(() => controller.abort(new Error('enough')), delay)
  const error = await queue
    .run(ring.program, 1_000_000_000, rank === 1 ? { signal: controller.signal } : {})
    .catch((caught: unknown) => caught)
  if (!isGpuError(error, 'aborted')) throw error
  done = Number(/after (\d+) of 1000000000 repetitions/.exec(error.message)![1])
}
await queue.run(ring.program, 2)
await ring.expectTurns(done + 2)
console.log(`rank ${rank} stops after ${done} repetitions`)
for (const resource of ring.owned) resource.destroy()

// Without messages, rank 1 finishes this run and the next one long before rank 0. Each repetition rotates
// two values of both devices.
const times = 2000
const turned = await Promise.all(
  [1_000_000, 1].map((length, i) => Promise.all([0, 1, 2].map(() => devices[i]!.allocate('u32', length)))),
)
for (const buffers of turned)
  for (const [i, buffer] of buffers.entries())
    await queue.write(buffer, new Uint32Array(buffer.length).fill(i))
const turn = group.record((r) => {
  for (const [a, b, c] of turned) {
    r.copy(a!, c!)
    r.copy(b!, a!)
    r.copy(c!, b!)
  }
})
const after = group.record((r) => r.fill(turned[1]![2]!, 7))
const late = new AbortController()
const turning = queue.run(turn, times + 1, rank === 0 ? { signal: late.signal } : {}).then(
  () => times + 1,
  (error: Error) => Number(/after (\d+) of 2001 repetitions/.exec(error.message)![1]),
)
const followed = queue.run(after, 1, { signal: new AbortController().signal })
setTimeout(() => late.abort(), 500)
const turns = await turning
await followed
for (const [a] of turned) expect((await queue.read(a!))[0]).toBe(turns % 2)
for (const resource of [...turned.flat(), turn, after]) resource.destroy()
expect(await group.destroy()).toEqual({ leaks: [] })
