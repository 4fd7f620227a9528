import { type Backend, openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { createGPU, install } from '@tandem-gpu/webgpu-api'

/** Not exported by backend-cuda. */
const fakeBackend = new URL('../../packages/backend-cuda/src/testing/fake-backend.ts', import.meta.url)
  .pathname

/**
 * The backend that `TANDEM_TEST_BACKEND` names: `fake-cuda` is CUDA's native code with kernels in generated
 * C++ on the CPU, `cuda` is the machine's NVIDIA GPUs, and `dawn` is npm's `webgpu` over Vulkan, for
 * comparison. The default is the reference runtime.
 */
export const backendName = process.env.TANDEM_TEST_BACKEND ?? 'reference'

async function tandemBackend(): Promise<Backend> {
  switch (backendName) {
    case 'reference':
      // TVM's runtime requests ten.
      return referenceBackend({ limits: { maxStorageBuffersPerDispatch: 10 } })
    case 'fake-cuda':
      return (await import(/* @vite-ignore */ fakeBackend)).fakeCudaBackend(1)
    case 'cuda':
      return (await import('@tandem-gpu/backend-cuda')).cuda()
    default:
      throw new Error(`TANDEM_TEST_BACKEND is ${backendName}; it may be fake-cuda, cuda or dawn.`)
  }
}

/** Installs `navigator.gpu`; returns a function that removes it. */
export async function installWebGpu(): Promise<() => Promise<void>> {
  if (backendName === 'dawn') {
    const { create, globals } = await import('webgpu')
    Object.assign(globalThis, globals)
    const uninstall = install(create([]))
    Object.assign(globalThis, globals)
    return async () => uninstall()
  }
  const group = await openGroup({ backends: [await tandemBackend()], devices: 1 })
  const uninstall = install(await createGPU(group.devices[0]!))
  return async () => {
    uninstall()
    await group.destroy()
  }
}
