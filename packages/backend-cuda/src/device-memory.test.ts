// Device memory for native code of another package. That an MPI can use it, jobs of backend-mpi show, with a fake MPI that looks at each address.
import { types } from 'node:util'
import { isGpuError } from '@tandem-gpu/core'
import { beforeEach, expect, it } from 'vitest'
import { cudaBackend } from './cuda.ts'
import { configureFake, fakeLibraries } from './testing/fake-driver.ts'
import { translateTestKernel } from './testing/test-kernels.ts'

beforeEach(() => configureFake({ FAKE_CUDA_DEVICES: 2 }))

const backend = () => cudaBackend({ libraries: fakeLibraries(), kernelCache: false }, translateTestKernel)

it('gives native code memory of the one GPU of a process, which outlives the runtime', async () => {
  const { adapters } = await backend().adapters()
  // Twice one GPU: its virtual devices.
  const runtime = await backend().openAddressable!([adapters[1]!, adapters[1]!])
  const allocations = await Promise.all(
    [0, 1].map((device) => runtime.allocate(device, 1000, { label: 'a', zero: true })),
  )
  const memory = await Promise.all(allocations.map((allocation) => runtime.deviceMemory!(allocation)))
  expect(memory.map(types.isExternal)).toEqual([true, true])
  expect(await runtime.dispose()).toEqual([])
  // What frees the values when JavaScript forgets them must not need the runtime.
  expect(memory.map(types.isExternal)).toEqual([true, true])
  const next = await backend().openAddressable!([adapters[1]!])
  expect(await next.dispose()).toEqual([])
  const error = await runtime.deviceMemory!(allocations[0]!).catch((caught) => caught)
  expect(isGpuError(error, 'device-lost')).toBe(true)
})

it('refuses several GPUs for a process', async () => {
  const { adapters } = await backend().adapters()
  const error = await backend().openAddressable!(adapters).catch((caught) => caught)
  expect(isGpuError(error, 'unsupported')).toBe(true)
  expect(error.message).toBe('A process has 2 GPUs, and each may have one.')
})
