import type { TransportName } from '@tandem-gpu/backend-mpi'
import type { Backend } from '@tandem-gpu/core'
import type { Runtime } from '@tandem-gpu/core/backend'
import type { Job } from './job.ts'
import { isNotInstalled, notInstalled } from './not-installed.ts'

export const backendNames = ['auto', 'cuda', 'webgpu'] as const
export type BackendName = (typeof backendNames)[number]

/**
 * In order of preference; `auto` means all of them. In a job, each has the devices of all processes; with
 * `virtual`, processes share a GPU if a host has fewer GPUs than processes.
 */
export function backendsNamed(
  name: BackendName,
  job?: Job,
  virtual = false,
  transport?: TransportName,
): Backend[] {
  const makers = {
    cuda: () =>
      optionalBackend('cuda', '@tandem-gpu/backend-cuda', async () =>
        (await import('@tandem-gpu/backend-cuda')).cuda(),
      ),
    webgpu: () =>
      optionalBackend('webgpu', '@tandem-gpu/backend-webgpu', async () =>
        (await import('@tandem-gpu/backend-webgpu')).webgpu(),
      ),
  }
  const backends = name === 'auto' ? [makers.cuda(), makers.webgpu()] : [makers[name]()]
  return job === undefined ? backends : backends.map((backend) => job.around(backend, virtual, transport))
}

/**
 * A backend whose package is an optional peer. A package that is not installed is reported as an absence that
 * names it, like a missing driver. `topology` and `links` are available once `adapters()` has resolved:
 * nobody has adapters to ask about, or to open, before that.
 */
export function optionalBackend(
  name: string,
  packageName: string,
  load: () => Promise<Backend<Runtime>>,
): Backend<Runtime> {
  let backend: Backend<Runtime> | undefined
  return {
    name,
    async adapters() {
      try {
        backend ??= await load()
      } catch (error) {
        if (!isNotInstalled(error, packageName)) throw error
        return {
          adapters: [],
          absence: { code: 'no-driver', ...notInstalled(packageName), missing: 'package' },
        }
      }
      return backend.adapters()
    },
    async open(adapters, options) {
      backend ??= await load()
      return backend.open(adapters, options)
    },
    get links() {
      return backend?.links
    },
    get topology() {
      return backend?.topology
    },
  }
}
