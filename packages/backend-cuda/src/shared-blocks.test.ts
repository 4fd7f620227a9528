// Small buffers share a block of the driver's memory, and another process maps the whole block, by one handle
// or by several.
import { afterEach, expect, it } from 'vitest'
import type { NativeGroup } from './native-addon.ts'
import { nativeAddon } from './native-addon.ts'
import { configureFake, fakeLibraries } from './testing/fake-driver.ts'

afterEach(() => configureFake())

it.each([0, 1])(
  'a mapped block stays until its last buffer is closed: handles that differ: %i',
  async (marks) => {
    // In one process, both groups use the fake driver's memory; a real driver needs two processes.
    configureFake({ FAKE_CUDA_IPC: 'own', FAKE_CUDA_IPC_MARKS: marks })
    const addon = nativeAddon()
    if (addon instanceof Error) throw addon
    const owner = await addon.openGroup(fakeLibraries().cuda, [0], true)
    const reader = await addon.openGroup(fakeLibraries().cuda, [1], true)
    const region = (address: number) => ({ gpu: 0, address, rowByteLength: 64, rows: 1, rowByteStride: 64 })
    const contents = async (group: NativeGroup, address: number) => {
      const bytes = new Uint8Array(64)
      await group.read(region(address), bytes)
      return [...new Set(bytes)]
    }
    const buffers = []
    for (const value of [1, 2, 3]) {
      const address = await owner.allocate(0, 64, false)
      await owner.write(region(address), new Uint8Array(64).fill(value))
      const { handle, byteOffset } = await owner.exportMemory(address)
      const base = await reader.importMemory(0, handle)
      buffers.push({ value, address, handle, byteOffset, base })
    }
    expect(new Set(buffers.map(({ base }) => base)).size).toBe(1)
    expect(new Set(buffers.map(({ byteOffset }) => byteOffset)).size).toBe(3)
    expect(new Set(buffers.map(({ handle }) => handle.join())).size).toBe(marks === 1 ? 3 : 1)
    while (buffers.length > 0) {
      for (const { value, base, byteOffset } of buffers)
        expect(await contents(reader, base + byteOffset)).toEqual([value])
      const { base, address } = buffers.shift()!
      reader.closeMemory(base)
      owner.free(address)
    }
    expect(await reader.close()).toEqual([])
    expect(await owner.close()).toEqual([])
  },
)
