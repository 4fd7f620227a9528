import { webgpu } from '@tandem-gpu/backend-webgpu'
import type { Backend } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'

/** The backend of each rank's own devices, as a test names it. */
export async function innerBackend(name: string): Promise<Backend> {
  if (name === 'reference') return referenceBackend()
  if (name === 'webgpu') return webgpu()
  if (name !== 'cuda') throw new Error(`There is no backend ${name}.`)
  // Only on machines with a GPU, through tools/gpu-host: this package does not depend on it.
  const specifier: string = '@tandem-gpu/backend-cuda'
  return ((await import(specifier)) as { cuda(): Backend }).cuda()
}
