// Rank 1 opens a second group while the others work in the first and wait for it. Every rank gets an error
// that names both calls.
import { isGpuError, openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { mpi } from '../../mpi.ts'
import { mpiSession } from '../../session.ts'
import { valueRing } from '../value-ring.ts'

const backends = [mpi(referenceBackend())]
const group = await openGroup({ backends, label: 'first' })
const { queue, rank } = group
const { program } = await valueRing(group)
await queue.run(program, 2)
const error: unknown = await (rank === 1 ? openGroup({ backends }) : queue.run(program, 3)).catch(
  (caught: unknown) => caught,
)
console.log(`rank ${rank}: ${isGpuError(error) ? `${error.code}: ${error.message}` : error}`)
await group.destroy()
await (await mpiSession()).gather('all have said it')
