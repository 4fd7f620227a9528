// Device memory for native code of another package. Jobs of backend-mpi show that an MPI can use it, with a
// fake MPI that checks each address.
import { types } from 'node:util'
import { type Adapter, isGpuError } from '@tandem-gpu/core'
import type { LinkedProcesses } from '@tandem-gpu/core/backend'
import { beforeEach, expect, it } from 'vitest'
import { cudaBackend } from './cuda.ts'
import { nativeAddon } from './native-addon.ts'
import { linkOf } from './testing/connected-runtimes.ts'
import { configureFake, fakeLibraries } from './testing/fake-driver.ts'
import { translateTestKernel } from './testing/test-kernels.ts'

beforeEach(() => configureFake({ FAKE_CUDA_DEVICES: 2 }))

const backend = () => cudaBackend({ libraries: fakeLibraries(), kernelCache: false }, translateTestKernel)

const alone: LinkedProcesses = {
  rank: 0,
  exchange: async (message) => [message],
  broken: new Promise(() => {}),
}

it('gives native code memory of the one GPU of a process, which outlives the runtime', async () => {
  const { adapters } = await backend().adapters()
  // The same GPU twice, as virtual devices.
  const open = (own: readonly Adapter[]) =>
    linkOf(backend(), 'segments').open(
      own.map((adapter) => ({ ...adapter, rank: 0 })),
      alone,
    )
  const runtime = await open([adapters[1]!, adapters[1]!])
  const allocations = await Promise.all(
    [0, 1].map((device) => runtime.allocate(device, 1000, { label: 'a', zero: true })),
  )
  const memory = await Promise.all(allocations.map((allocation) => runtime.native!.address(allocation)))
  expect(memory.map(types.isExternal)).toEqual([true, true])
  expect(await runtime.dispose()).toEqual([])
  // The finalizers that free the values must not need the runtime.
  expect(memory.map(types.isExternal)).toEqual([true, true])
  const next = await open([adapters[1]!])
  expect(await next.dispose()).toEqual([])
  const error = await runtime.native!.address(allocations[0]!).catch((caught) => caught)
  expect(isGpuError(error, 'device-lost')).toBe(true)
})

it('refuses several GPUs for a process', async () => {
  const { adapters } = await backend().adapters()
  const error = await linkOf(backend(), 'segments')
    .open(
      adapters.map((adapter) => ({ ...adapter, rank: 0 })),
      alone,
    )
    .catch((caught) => caught)
  expect(isGpuError(error, 'unsupported')).toBe(true)
  expect(error.message).toBe('A process has 2 GPUs; each process may have only one.')
})

it('keeps a block of another process mapped until all handles of memory in it are closed', async () => {
  // Tests in one process open their own exports.
  configureFake({ FAKE_CUDA_DEVICES: 1, FAKE_CUDA_IPC: 'own' })
  const addon = nativeAddon()
  if (addon instanceof Error) throw addon
  const group = await addon.openGroup(fakeLibraries().cuda!, [0], true)
  // Small buffers, which share one block of the driver.
  const addresses = [await group.allocate(0, 256, true), await group.allocate(0, 256, true)]
  const region = (address: number) => ({ gpu: 0, address, rowByteLength: 4, rows: 1, rowByteStride: 4 })
  for (const [i, address] of addresses.entries())
    await group.write(region(address), new Uint8Array(4).fill(i + 1))
  const named = await Promise.all(addresses.map((address) => group.exportMemory(address)))
  expect(named[0]!.handle).not.toEqual(named[1]!.handle)
  const bases = await Promise.all(named.map(({ handle }) => group.importMemory(0, handle)))
  expect(bases[0]).toBe(bases[1])
  const read = async (which: number) => {
    const bytes = new Uint8Array(4)
    await group.read(region(bases[which]! + named[which]!.byteOffset), bytes)
    return [...bytes]
  }
  expect([await read(0), await read(1)]).toEqual([Array(4).fill(1), Array(4).fill(2)])
  group.closeMemory(bases[0]!)
  expect(await read(1)).toEqual(Array(4).fill(2))
  group.closeMemory(bases[1]!)
  await expect(read(1)).rejects.toThrow()
  expect(await group.close()).toEqual([])
})
