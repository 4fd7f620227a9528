import { webgpu } from '@tandem-gpu/backend-webgpu'
import type { Backend } from '@tandem-gpu/core'
import type { Runtime } from '@tandem-gpu/core/backend'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { detectLaunch } from '../launcher.ts'
import { fakeGpuAwareMpi } from './fake-gpu-aware-mpi.ts'

/** The backend of each rank's own devices, by the name that tests use. */
export async function innerBackend(name: string): Promise<Backend<Runtime>> {
  if (name === 'reference') return referenceBackend()
  if (name === 'webgpu') return webgpu()
  if (name === 'fake-cuda') return fakeCuda(1)
  // As many devices as ranks, unless FAKE_CUDA_DEVICES is set: each rank gets its own device, which the
  // others can map.
  if (name === 'fake-gpus') return fakeCuda(detectLaunch(process.env)?.size ?? 1)
  if (name !== 'cuda') throw new Error(`There is no backend ${name}.`)
  // Only on machines with a GPU, through tools/gpu-host: this package does not depend on it.
  const specifier: string = '@tandem-gpu/backend-cuda'
  return ((await import(specifier)) as { cuda(): Backend<Runtime> }).cuda()
}

/** The library of a fake MPI that accepts memory of the fake driver, if FAKE_GPU_AWARE_RANKS is set. */
export function mpiLibraries(): readonly string[] | undefined {
  if (process.env.FAKE_GPU_AWARE_RANKS === undefined) return undefined
  return [fakeGpuAwareMpi(detectLaunch(process.env)?.family === 'MPICH' ? 'MPICH' : 'Open MPI')]
}

async function fakeCuda(devices: number): Promise<Backend<Runtime>> {
  // Not a literal, because this package's build does not include that package.
  const what = 'backend'
  const { fakeCudaBackend } = (await import(`../../../backend-cuda/src/testing/fake-${what}.ts`)) as {
    fakeCudaBackend(devices: number): Backend<Runtime>
  }
  return fakeCudaBackend(devices)
}
