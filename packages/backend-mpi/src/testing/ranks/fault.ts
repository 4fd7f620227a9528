// Rank 1's devices fault while two launches of one program by native code are pending. Every rank gets an
// error, and destroys its group.
//   mpirun -n 2 node fault.ts FOLDER (empty)
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isGpuError, openGroup } from '@tandem-gpu/core'
import { mpi } from '../../mpi.ts'
import { innerBackend } from '../inner-backend.ts'

const folder = process.argv[2]!
const backend = mpi(await innerBackend('fake-gpus'), { transport: 'staged' })
const group = await openGroup({ backends: [backend] })
const { devices, queue, rank } = group
const buffers = await Promise.all(devices.map((device) => device.allocate('u32', 100_000)))
const hosts = devices.map((device) => group.allocateHost('u32', 64, { device }))
// The devices wait for no message, so they are a repetition ahead.
const program = group.record((r) => {
  for (const buffer of buffers) r.fill(buffer, 3)
  r.copy(hosts[0]!, hosts[1]!)
})
await queue.run(program, 3)
// An access to an illegal address.
if (rank === 1) process.env.FAKE_FAIL = 'cuEventQuery:700:20'
setTimeout(() => process.exit(1), 20_000).unref()
const error = await queue.run(program, 10_000_000).catch((caught: unknown) => caught)
// MPI may still write to the memory of messages, which therefore outlives the program and the group.
const { array } = hosts[rank]!
for (const owned of [program, ...hosts]) owned.destroy()
await group.destroy()
console.log(`rank ${rank} still has ${array.byteLength} bytes of messages`)
console.log(`rank ${rank} ends: ${isGpuError(error) ? `${error.code}: ${error.message}` : error}`)
// Gives the others time to report it too, before the launcher notices that one has ended.
await writeFile(join(folder, `${rank}`), '')
while ((await readdir(folder)).length < group.rankCount) await delay(100)
process.exit(3)
