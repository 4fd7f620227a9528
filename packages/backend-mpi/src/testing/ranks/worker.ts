// Requests MPI in a worker thread in every possible way, and prints the results.
import { isMainThread, Worker } from 'node:worker_threads'
import { openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { mpi } from '../../mpi.ts'
import { findMpi } from '../../session.ts'

if (isMainThread) new Worker(process.argv[1]!)
else {
  const backend = mpi(referenceBackend())
  const calls: readonly (() => unknown)[] = [
    () => backend.adapters(),
    () => backend.open([], { label: 'opened' }),
    () => openGroup({ backends: [backend] }),
    () => findMpi(),
  ]
  for (const call of calls) {
    try {
      await call()
      console.log('no error')
    } catch (error) {
      console.log(String((error as { code?: string }).code), (error as Error).message)
    }
  }
}
