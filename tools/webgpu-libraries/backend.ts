import { type Backend, openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { createGPU, install } from '@tandem-gpu/webgpu-api'

/** Not part of what backend-cuda exports. */
const fakeBackend = new URL('../../packages/backend-cuda/src/testing/fake-backend.ts', import.meta.url)
  .pathname

/**
 * What `TANDEM_TEST_BACKEND` names: `fake-cuda` is CUDA's native code with kernels in generated C++ on the
 * CPU, `cuda` the NVIDIA GPUs of the machine; without it, the reference runtime. `dawn`, npm's `webgpu` over
 * Vulkan, is what others offer.
 */
export const backendName = process.env.TANDEM_TEST_BACKEND ?? 'reference'

async function tandemBackend(): Promise<Backend> {
  switch (backendName) {
    case 'reference':
      // TVM's runtime asks for ten.
      return referenceBackend({ limits: { maxStorageBuffersPerDispatch: 10 } })
    case 'fake-cuda':
      return (await import(/* @vite-ignore */ fakeBackend)).fakeCudaBackend(1)
    case 'cuda':
      return (await import('@tandem-gpu/backend-cuda')).cuda()
    default:
      throw new Error(`TANDEM_TEST_BACKEND is ${backendName}; it may be fake-cuda, cuda or dawn.`)
  }
}

/** Puts `navigator.gpu` in place and returns what ends it. */
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
