// Rank 1's devices are lost in a run of its own, after which a program that has not run before waits. Every
// rank still destroys its group.
//   mpirun -n 2 node lost-device.ts TRANSPORT
import { isGpuError, openGroup } from '@tandem-gpu/core'
import { type MpiOptions, mpi } from '../../mpi.ts'
import { mpiSession } from '../../session.ts'
import { innerBackend } from '../inner-backend.ts'

const transport = process.argv[2] as MpiOptions['transport']
const group = await openGroup({ backends: [mpi(await innerBackend('fake-gpus'), { transport })] })
const { devices, queue, rank } = group
const buffers = await Promise.all(devices.map((device) => device.allocate('u32', 1000)))
const own = group.record((r) => r.fill(buffers[1]!, 1))
const exchange = group.record((r) => r.copy(buffers[0]!, buffers[1]!))
await queue.run(own, 3000)
// An access to an illegal address is reported at the end of the run.
if (rank === 1) process.env.FAKE_FAIL = 'cuEventElapsedTime:700:1'
const runs = await Promise.allSettled([queue.run(own, 3000), queue.run(exchange)])
const codes = runs.map((run) => (run.status === 'rejected' && isGpuError(run.reason) ? run.reason.code : run))
setTimeout(() => process.exit(1), 20_000).unref()
await group.destroy()
console.log(`rank ${rank} has destroyed the group: ${codes.join(', ')}`)
await (await mpiSession()).gather('all have said it')
