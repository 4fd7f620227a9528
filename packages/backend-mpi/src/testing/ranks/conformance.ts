// Every rank: the conformance suite of core on `mpi(inner)`, over the devices of all ranks.

import { describeBackend } from '@tandem-gpu/core/testing'
import { type MpiOptions, mpi } from '../../mpi.ts'
import { mpiSession } from '../../session.ts'
import { innerBackend, mpiLibraries } from '../inner-backend.ts'
import { runTests } from '../rank-tests.ts'

const [name = 'reference', transport = 'staged'] = process.argv.slice(2)
const inner = await innerBackend(name)
const { rank, ranks } = await mpiSession(mpiLibraries())
const devices = Math.max(2, ranks.length)
describeBackend(
  `mpi(${name})`,
  () => mpi(inner, { virtual: true, transport: transport as MpiOptions['transport'] }),
  { devices },
)
const { passed, skipped, failures } = await runTests()
for (const { name, error } of failures) console.error(`Rank ${rank}: ${name}:`, error)
if (rank === 0) console.log(JSON.stringify({ passed, skipped, failed: failures.length }))
if (failures.length > 0) process.exit(1)
