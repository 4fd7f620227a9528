import type { Backend } from '@tandem-gpu/core'
import type { Job, RankTransport } from './job.ts'

export const backendNames = ['auto', 'cuda', 'webgpu'] as const
export type BackendName = (typeof backendNames)[number]

/**
 * In order of preference; `auto` means all of them. In a job, each has the devices of all processes; with `virtual`, processes share a GPU
 * where a host has fewer GPUs than processes.
 */
export function backendsNamed(
  name: BackendName,
  job?: Job,
  virtual = false,
  transport?: RankTransport,
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
 * A backend whose package is an optional peer. A package that is not installed is reported as an absence that names it, like a missing driver.
 * `topology` and the other ways to open are known once `adapters()` has resolved, which is when anybody has adapters to ask about or to open.
 */
export function optionalBackend(name: string, packageName: string, load: () => Promise<Backend>): Backend {
  let backend: Backend | undefined
  return {
    name,
    async adapters() {
      try {
        backend ??= await load()
      } catch (error) {
        if (!isNotInstalled(error, packageName)) throw error
        return {
          adapters: [],
          absence: { code: 'no-driver', ...notInstalled(packageName) },
        }
      }
      return backend.adapters()
    },
    async open(adapters, options) {
      backend ??= await load()
      return backend.open(adapters, options)
    },
    get openShared() {
      return backend?.openShared?.bind(backend)
    },
    get openConnected() {
      return backend?.openConnected?.bind(backend)
    },
    get openAddressable() {
      return backend?.openAddressable?.bind(backend)
    },
    get topology() {
      return backend?.topology
    },
  }
}

/** What a user reads where a package is not there. */
export function notInstalled(packageName: string) {
  return {
    reason: `The package ${packageName} is not installed beside the tandem command.`,
    remedy: `Run npm install ${packageName}, with --global where @tandem-gpu/cli is installed globally.`,
  }
}

/** Node's loaders and Yarn's Plug'n'Play name the package that they do not find in the message, under one of two codes. */
export function isNotInstalled(error: unknown, packageName: string): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  return (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') && message.includes(packageName)
}
