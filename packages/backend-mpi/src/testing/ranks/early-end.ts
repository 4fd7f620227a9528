// Every rank ends with exit code 0 while something is pending. Argument: `call` (rank 1 has made one that no
// other rank makes) or `run` (in the middle of one).
import { openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { mpi } from '../../mpi.ts'
import { valueRing } from '../value-ring.ts'

const [pending] = process.argv.slice(2)
const group = await openGroup({ backends: [mpi(referenceBackend())] })
const { devices, queue, rank } = group
const { program } = await valueRing(group)
await queue.run(program, 2)
console.log(`rank ${rank} ends`)
if (pending === 'run') void queue.run(program, 1_000_000_000, { signal: new AbortController().signal })
else if (rank === 1) void devices[0]!.allocate('u32', 1)
// The run has begun by then, even on a busy machine. Rank 0 then still does its part, and waits for a message that
// rank 1 no longer sends.
setTimeout(() => process.exit(0), rank === 0 ? 2000 : 1800)
