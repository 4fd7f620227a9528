// A rank that opens a group, or prints the error if it cannot. Arguments: libraries to try first.
import { isGpuError, openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { mpi } from '../../mpi.ts'

try {
  const group = await openGroup({ backends: [mpi(referenceBackend(), { libraries: process.argv.slice(2) })] })
  console.log(`rank ${group.rank} of ${group.rankCount}`)
  await group.destroy()
} catch (error) {
  if (!isGpuError(error)) throw error
  console.log(`${error.code}: ${error.message}`)
  process.exitCode = 2
}
