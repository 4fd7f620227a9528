import type { Backend, DeviceGroup, KernelHandle } from '@tandem-gpu/core'
import { openGroup } from '@tandem-gpu/core'
import { afterAll, describe, expect } from 'vitest'

/**
 * The groups that the algorithms' tests run on; not part of the published package. The same test files run on the CPU reference
 * executor and on the software WebGPU adapter by default, and on what the environment variable TANDEM_TEST_BACKEND names
 * (`reference`, `webgpu` or `cuda`) on a GPU host.
 */
export interface TestBackend {
  readonly name: 'reference' | 'webgpu' | 'cuda'
  /** A group that the tests of one file share; closed, and checked for leaks, after them. */
  group(devices: number, options?: TestGroupOptions): Promise<DeviceGroup>
}

export interface TestGroupOptions {
  /** False: every device is denied access to its peers' memory. Default true. */
  peerAccess?: boolean | undefined
  /** Reference executor only: seed of the random topological order that every plan runs in. Default 1. */
  seed?: number | undefined
  /** Opens the group with `debug`. Default false. */
  debug?: boolean | undefined
}

/**
 * Runs `body` once per backend under test, each in its own `describe`. After the tests of a backend, memory that the
 * algorithms did not free fails the run.
 */
export function describeOnBackends(title: string, body: (backend: TestBackend) => void): void {
  const wanted = process.env.TANDEM_TEST_BACKEND
  const names = (['reference', 'webgpu', 'cuda'] as const).filter((name) =>
    wanted ? wanted.split(',').includes(name) : name !== 'cuda',
  )
  for (const name of names) {
    describe(`${title} on ${name}`, () => {
      const groups = new Map<string, Promise<DeviceGroup>>()
      afterAll(async () => {
        for (const opened of groups.values()) {
          const group = await opened
          const { leaks } = await group.destroy()
          expect(leaks).toEqual([])
        }
      })
      body({
        name,
        group(devices, options = {}) {
          const { peerAccess = true, seed = 1, debug = false } = options
          // Compiling takes long on a CPU adapter. All groups of one kind share the devices of one, and so its kernels.
          const count = name === 'webgpu' ? Math.max(devices, 8) : devices
          const key = `${count} ${peerAccess} ${debug} ${name === 'reference' ? seed : ''}`
          let opened = groups.get(key)
          if (!opened) {
            opened = makeBackend(name, peerAccess, seed).then((backend) =>
              openGroup({
                backends: [backend],
                devices: count,
                virtual: true,
                debug,
                label: `${name} × ${count}`,
              }),
            )
            groups.set(key, opened)
          }
          return opened.then((group) => firstDevices(group, devices))
        },
      })
    })
  }
}

/** The group with its first `count` devices only. */
function firstDevices(group: DeviceGroup, count: number): DeviceGroup {
  if (count === group.devices.length) return group
  const devices = group.devices.slice(0, count)
  return new Proxy(group, {
    get(target, key) {
      if (key === 'devices') return devices
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

async function makeBackend(name: TestBackend['name'], peerAccess: boolean, seed: number): Promise<Backend> {
  if (name === 'reference') {
    const { referenceBackend } = await import('@tandem-gpu/core/testing')
    return referenceBackend({ seed, peerAccess })
  }
  if (name === 'webgpu') {
    const { webgpu } = await import('@tandem-gpu/backend-webgpu')
    return keepingKernels(webgpu({ peerAccess }))
  }
  const { cuda } = await import('@tandem-gpu/backend-cuda')
  return cuda({ peerAccess })
}

/**
 * The backend, with all its kernels kept while a group is open. Dawn compiles a text again once the pipeline that it had has been collected,
 * which takes seconds on a CPU adapter.
 */
function keepingKernels(backend: Backend): Backend {
  return {
    name: backend.name,
    adapters: () => backend.adapters(),
    async open(...args) {
      const runtime = await backend.open(...args)
      const compile = runtime.compile.bind(runtime)
      const kept: KernelHandle[] = []
      runtime.compile = async (source) => {
        const kernel = await compile(source)
        kept.push(kernel)
        return kernel
      }
      return runtime
    },
  }
}
