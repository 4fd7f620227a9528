import type { Backend } from '@tandem-gpu/core'
import { type CudaOptions, cudaBackend } from '../cuda.ts'
import { translateForCpu } from './cpu-translation.ts'
import { configureFake, fakeLibraries } from './fake-driver.ts'

/**
 * The CUDA backend on a driver that runs on the CPU. It starts work without JavaScript, and shares memory
 * between processes. Settings in the environment (FAKE_…) take precedence over `devices`.
 */
export function fakeCudaBackend(devices: number, kernelCache: CudaOptions['kernelCache'] = false): Backend {
  const settings = Object.entries(process.env).filter(([name]) => name.startsWith('FAKE_'))
  const built = fakeLibraries()
  // Simulates a machine without NCCL.
  const absent = process.env.FAKE_NCCL_VERSION === 'none' && { nccl: ['/nowhere/libnccl.so.2'] }
  const libraries = { ...built, ...absent }
  const always = { FAKE_CUDA_DEVICES: devices, FAKE_DRIVER: libraries.cuda[0]! }
  configureFake({ ...always, ...Object.fromEntries(settings) })
  return cudaBackend({ libraries, kernelCache }, translateForCpu)
}
