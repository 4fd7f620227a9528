import { webgpu } from '@tandem-gpu/backend-webgpu'
import type { Backend } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'

/** The backend of each rank's own devices, as a test names it. */
export async function innerBackend(name: string): Promise<Backend> {
  if (name === 'reference') return referenceBackend()
  if (name === 'webgpu') return webgpu()
  if (name === 'fake-cuda') return fakeCuda()
  if (name !== 'cuda') throw new Error(`There is no backend ${name}.`)
  // Only on machines with a GPU, through tools/gpu-host: this package does not depend on it.
  const specifier: string = '@tandem-gpu/backend-cuda'
  return ((await import(specifier)) as { cuda(): Backend }).cuda()
}

/** The CUDA backend over a driver on the CPU, one device a process: it starts work without JavaScript. */
async function fakeCuda(): Promise<Backend> {
  const sources = new URL('../../../backend-cuda/src/', import.meta.url).href
  const { cudaBackend } = await import(`${sources}cuda.ts`)
  const { translateForCpu } = await import(`${sources}testing/cpu-translation.ts`)
  const { configureFake, fakeLibraries } = await import(`${sources}testing/fake-driver.ts`)
  configureFake({ FAKE_CUDA_DEVICES: 1 })
  return cudaBackend({ libraries: fakeLibraries(), kernelCache: false }, translateForCpu)
}
