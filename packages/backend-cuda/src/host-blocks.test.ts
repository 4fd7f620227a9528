// Driver calls that wait for the GPU must not delay runs: freed host memory stays locked for reuse, and
// modules are unloaded when nothing runs.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { openGroup } from '@tandem-gpu/core'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { cudaBackend } from './cuda.ts'
import type { NativeGroup } from './native-addon.ts'
import { nativeAddon } from './native-addon.ts'
import { configureFake, fakeLibraries } from './testing/fake-driver.ts'
import { translateTestKernel } from './testing/test-kernels.ts'

afterEach(() => configureFake())

/** A group, and a counter of calls to a driver function since it was opened. */
async function traced(): Promise<{ group: NativeGroup; calls: (symbol: string) => number }> {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-trace-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const trace = join(folder, 'trace')
  const addon = nativeAddon()
  if (addon instanceof Error) throw addon
  const group = await addon.openGroup(fakeLibraries().cuda, [0])
  writeFileSync(trace, '')
  configureFake({ FAKE_TRACE: trace })
  return {
    group,
    calls: (symbol) =>
      readFileSync(trace, 'utf8')
        .split('\n')
        .filter((line) => line === symbol).length,
  }
}

/** Maps and locks memory, as `allocateHost` does. */
async function taken(group: NativeGroup, byteLength: number) {
  const mapping = group.mapHost(byteLength)!
  if (!mapping.locked) await group.lockHost(mapping.arrayBuffer).locked
  return mapping
}

it('reuses a returned block for the next allocation of its size class, locked and zeroed', async () => {
  const { group, calls } = await traced()
  const sizes = [1, 4096, 5000, 1_000_000, 1_040_000]
  const classes = [4096, 4096, 8192, 1_048_576, 1_048_576]
  const addresses = new Map<number, number>()
  for (let turn = 0; turn < 20; turn++)
    for (const [at, byteLength] of sizes.entries()) {
      const { arrayBuffer, address, locked } = await taken(group, byteLength)
      expect(arrayBuffer.byteLength).toBe(byteLength)
      expect(locked).toBe(addresses.has(classes[at]!))
      expect(address).toBe(addresses.get(classes[at]!) ?? address)
      addresses.set(classes[at]!, address)
      const bytes = new Uint8Array(arrayBuffer)
      expect(bytes.every((byte) => byte === 0)).toBe(true)
      bytes.fill(turn + 1)
      await group.unlockHost(address, arrayBuffer, true)
      expect(arrayBuffer.byteLength).toBe(0)
    }
  expect(calls('cuMemHostRegister')).toBe(3)
  expect(calls('cuMemHostUnregister')).toBe(0)
  expect(await group.close()).toEqual([])
  expect(calls('cuMemHostUnregister')).toBe(3)
})

it('does not reuse blocks that are in use, or whose pages another ArrayBuffer may have', async () => {
  const { group, calls } = await traced()
  const [a, b] = [await taken(group, 8192), await taken(group, 8192)]
  expect(a.address).not.toBe(b.address)
  // The caller has moved the pages elsewhere.
  const moved = (a.arrayBuffer as ArrayBuffer & { transfer(): ArrayBuffer }).transfer()
  new Uint8Array(moved).fill(7)
  await group.unlockHost(a.address, a.arrayBuffer, true)
  expect(calls('cuMemHostUnregister')).toBe(1)
  const c = await taken(group, 8192)
  expect([a.address, b.address]).not.toContain(c.address)
  expect(new Set(new Uint8Array(moved))).toEqual(new Set([7]))
  for (const { address, arrayBuffer } of [b, c]) await group.unlockHost(address, arrayBuffer, true)
  expect(await group.close()).toEqual([])
})

it('keeps 256 MiB in blocks of at most 64 MiB, and returns everything if the driver lacks memory', async () => {
  const { group, calls } = await traced()
  const mebibyte = 2 ** 20
  const blocks = []
  for (let i = 0; i < 5; i++) blocks.push(await taken(group, 64 * mebibyte))
  blocks.push(await taken(group, 64 * mebibyte + 1))
  for (const { address, arrayBuffer } of blocks) await group.unlockHost(address, arrayBuffer, true)
  expect(calls('cuMemHostUnregister')).toBe(2)
  process.env.FAKE_FAIL = 'cuMemHostRegister:2:1'
  const next = await taken(group, 4096)
  expect(calls('cuMemHostUnregister')).toBe(6)
  await group.unlockHost(next.address, next.arrayBuffer, true)
  expect(await group.close()).toEqual([])
})

it('host memory and kernels are created and freed without waiting for the kernel of another group', async () => {
  const libraries = fakeLibraries()
  const backend = cudaBackend({ libraries, kernelCache: false }, translateTestKernel)
  const [busy, quick] = await Promise.all(
    ['busy', 'quick'].map((label) => openGroup({ backends: [backend], devices: 1, label })),
  )
  const compile = () => quick!.compile({ label: 'add', wgsl: '@compute @workgroup_size(1) fn main() {}' })
  const x = await busy!.devices[0]!.allocate('u32', 4)
  const y = await quick!.devices[0]!.allocate('u32', 4)
  const long = busy!.record((r) => r.fill(x, 1))
  const short = quick!.record((r) => r.fill(y, 2))
  const host = quick!.allocateHost('u32', 1000)
  await quick!.queue.run(short)
  const kernel = await compile()
  configureFake({ FAKE_CUDA_BUSY_MS: 5000 })
  let ended = false
  const running = busy!.queue.run(long).then(() => {
    ended = true
  })
  await setTimeout(300)
  configureFake()
  kernel.destroy()
  host.destroy()
  const again = quick!.allocateHost('u32', 1000)
  await quick!.queue.run(short)
  expect(await quick!.queue.read(y)).toEqual(new Uint32Array(4).fill(2))
  expect(ended).toBe(false)
  await running
  for (const resource of [long, x, short, y, again]) resource.destroy()
  for (const group of [busy!, quick!]) expect(await group.destroy()).toEqual({ leaks: [] })
})

it('unloads modules at rest, and before the driver runs out of them', async () => {
  const { group, calls } = await traced()
  const image = new TextEncoder().encode(
    '.version 6.3\n.visible .entry small()\n{\n}\n',
  ) as Uint8Array<ArrayBuffer>
  let id = 0
  const load = async () => {
    id += 1
    await group.loadKernel(id, 0, image, 'small', 0)
    group.unloadKernel(id)
  }
  await load()
  for (let tries = 0; calls('cuModuleUnload') < 1 && tries < 500; tries++) await setTimeout(20)
  expect(calls('cuModuleUnload')).toBe(1)
  process.env.FAKE_CUDA_MODULES = '1'
  for (let turn = 0; turn < 3; turn++) await load()
  expect(calls('cuModuleUnload')).toBeGreaterThan(2)
  expect(await group.close()).toEqual([])
  expect(calls('cuModuleUnload')).toBe(4)
})
