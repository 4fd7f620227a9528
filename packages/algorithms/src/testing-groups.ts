import type { Backend, DeviceGroup } from '@tandem-gpu/core'
import { openGroup } from '@tandem-gpu/core'
import type { Runtime } from '@tandem-gpu/core/backend'
import { afterAll, describe, expect } from 'vitest'

/**
 * The groups that the algorithms' tests run on; not part of the published package. The same test files run on
 * the CPU reference executor and on the software WebGPU adapter by default, and on what the environment
 * variable TANDEM_TEST_BACKEND names (`reference`, `webgpu` or `cuda`) on a GPU host.
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
 * Runs `body` once per backend under test, each in its own `describe`. After the tests of a backend, memory
 * that the algorithms did not free fails the run.
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
          expect(await group.destroy()).toEqual({ leaks: [] })
        }
      })
      body({
        name,
        group(devices, options = {}) {
          const { peerAccess = true, seed = 1, debug = false } = options
          const key = `${devices} ${peerAccess} ${debug} ${name === 'reference' ? seed : ''}`
          let opened = groups.get(key)
          if (!opened) {
            opened = makeBackend(name, peerAccess, seed).then((backend) =>
              openGroup({
                backends: [backend],
                devices,
                virtual: true,
                debug,
                label: `${name} × ${devices}`,
              }),
            )
            groups.set(key, opened)
          }
          return opened
        },
      })
    })
  }
}

/**
 * All test files of a process share it, and so compile each kernel once, which takes seconds on a CPU
 * adapter.
 */
let webGpu: Promise<Backend<Runtime>> | undefined

async function makeBackend(
  name: TestBackend['name'],
  peerAccess: boolean,
  seed: number,
): Promise<Backend<Runtime>> {
  if (name === 'reference') {
    const { referenceBackend } = await import('@tandem-gpu/core/testing')
    return referenceBackend({ seed, peerAccess })
  }
  if (name === 'webgpu') {
    const { openedOnce } = await import('@tandem-gpu/core/testing')
    webGpu ??= import('@tandem-gpu/backend-webgpu').then(({ webgpu }) => webgpu())
    return openedOnce(await webGpu, { peerAccess })
  }
  const { cuda } = await import('@tandem-gpu/backend-cuda')
  return cuda({ peerAccess })
}

/** The group, presented as hardware, so that it is tuned. */
export function asHardware<T extends { readonly software: boolean }>(group: T): T {
  return new Proxy(group, {
    get(target, key) {
      if (key === 'software') return false
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
