import type { Backend } from '@tandem-gpu/core'
import type { Handles, Link, LinkedRuntime, PlanPart } from '@tandem-gpu/core/backend'
import { simulateProcesses } from '@tandem-gpu/core/testing'
import { type CudaOptions, cudaBackend } from '../cuda.ts'
import { fakeLibraries } from './fake-driver.ts'
import { translateTestKernel } from './test-kernels.ts'

export interface ConnectedRuntimes {
  readonly opened: readonly PromiseSettledResult<LinkedRuntime<Handles, PlanPart>>[]
  /** Informs all ranks that one of them cannot continue. */
  readonly break: () => void
}

/** The backend's link with plans of that kind. */
export function linkOf<P extends Link['plans']>(backend: Backend, plans: P): Extract<Link, { plans: P }> {
  const isWanted = (link: Link): link is Extract<Link, { plans: P }> => link.plans === plans
  return backend.links!.find(isWanted)!
}

/**
 * One runtime on the fake driver for each rank, all in this process. `gpuOf`: the CUDA devices of each rank.
 */
export async function openConnectedRuntimes(
  gpuOf: readonly (readonly number[])[],
  optionsOf: (rank: number) => CudaOptions = () => ({}),
): Promise<ConnectedRuntimes> {
  const simulated = simulateProcesses(gpuOf.length)
  const opened = await Promise.allSettled(
    gpuOf.map(async (_, rank) => {
      const backend = cudaBackend(
        { libraries: fakeLibraries(), kernelCache: false, ...optionsOf(rank) },
        translateTestKernel,
      )
      const { adapters } = await backend.adapters()
      const all = gpuOf.flatMap((gpus, other) => gpus.map((gpu) => ({ ...adapters[gpu]!, rank: other })))
      return linkOf(backend, 'parts').open(all, simulated.processes[rank]!)
    }),
  )
  return { opened, break: simulated.break }
}
