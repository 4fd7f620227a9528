import { type Backend, type DeviceGroup, openGroup } from '@tandem-gpu/core'
import type { OpenedRuntime, Runtime } from '@tandem-gpu/core/backend'
import { imaginedRanks, referenceBackend } from '@tandem-gpu/core/testing'

/** The properties of an H200 that the CUDA backend reports, on which choices of the algorithms depend. */
const h200 = {
  software: false,
  name: 'NVIDIA H200',
  memoryByteLength: 139 * 2 ** 30,
  limits: {
    maxBufferByteLength: 139 * 2 ** 30,
    maxStorageBindingByteLength: 139 * 2 ** 30,
    maxStorageBuffersPerDispatch: 80,
    maxUniformBindingByteLength: 65_536,
    bindingOffsetAlignment: 256,
    maxWorkgroupsPerDimension: 65_535,
    maxWorkgroupInvocations: 1024,
    maxWorkgroupSize: [1024, 1024, 64] as const,
    maxWorkgroupMemoryByteLength: 232_448,
  },
}

/**
 * Opens a group whose programs are recorded but never run, as one rank of `count` with one H200 each. Its
 * buffers have no memory.
 */
export function openRank(rank: number, count: number): Promise<DeviceGroup> {
  return openGroup({ backends: [onPaper(imaginedRanks(rank, count))] })
}

/**
 * The same for `devices` H200s that can access each other's memory: one process, or processes of one host
 * with the transport `ipc`.
 */
export function openHost(devices: number): Promise<DeviceGroup> {
  return openGroup({ backends: [onPaper(referenceBackend({ devices }))] })
}

function onPaper(inner: Backend): Backend {
  return {
    name: inner.name,
    adapters: async () => ({
      adapters: (await inner.adapters()).adapters.map((adapter) => ({ ...adapter, ...h200 })),
    }),
    open: async (adapters, options) => withoutMemory(await inner.open(adapters, options)),
  }
}

function withoutMemory(runtime: OpenedRuntime): OpenedRuntime {
  const replaced: Partial<Runtime> = {
    allocate: async (device, byteLength) => ({ device, byteLength }) as never,
    free() {},
    compile: async (source) => ({ label: source.label }) as never,
    releaseKernel() {},
  }
  return new Proxy(runtime, {
    get(target, name) {
      const value = Reflect.get(name in replaced ? replaced : target, name)
      return typeof value === 'function' && !(name in replaced) ? value.bind(target) : value
    },
  })
}
