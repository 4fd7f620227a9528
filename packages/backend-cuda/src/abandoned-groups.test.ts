// A run of a kernel that never checks the stop word exceeds its time limit, but ends. Only its group is lost.
import { setTimeout } from 'node:timers/promises'
import { type DeviceGroup, isGpuError, openGroup } from '@tandem-gpu/core'
import { commandWords, openDeviceCommands } from '@tandem-gpu/core/backend'
import { afterEach, expect, it } from 'vitest'
import { cudaBackend } from './cuda.ts'
import type { Translated } from './cuda-kernel.ts'
import { configureFake, fakeLibraries } from './testing/fake-driver.ts'

afterEach(() => configureFake())

const groupMemory = 1_000_000
const settings = { FAKE_CUDA_DEVICES: 1, FAKE_CUDA_MEMORY: groupMemory }

/** A kernel that takes FAKE_CUDA_BUSY_MS. */
const untiring = (): Translated => ({
  source: 'extern "C" __global__ void untiring(unsigned char *x, unsigned long long bytes) { x[0] = 1; }',
  entryName: 'untiring',
  workgroupSize: [1, 1, 1],
  dynamicSharedByteLength: 0,
  lineMap: [],
  minimumComputeCapability: undefined,
  parameters: (['storage', 'byte-length'] as const).map((kind) => ({
    kind,
    name: kind,
    type: '',
    bindingIndex: 0,
  })),
})
const wgsl =
  '@group(0) @binding(0) var<storage, read_write> x: array<u32>; @compute @workgroup_size(1) fn main() { x[0] = 1; }'

function open(label: string): Promise<DeviceGroup> {
  const backend = cudaBackend({ libraries: fakeLibraries(), kernelCache: false }, untiring)
  return openGroup({ backends: [backend], label })
}

function code(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'none',
    (error: unknown) => (isGpuError(error) ? error.code : String(error)),
  )
}

/**
 * Loses a group by a run of `milliseconds`, followed by a read. Resolves when both have rejected, while the
 * run continues.
 */
async function abandoned(label: string, milliseconds: number, length: number): Promise<DeviceGroup> {
  const group = await open(label)
  const x = await group.devices[0]!.allocate('u32', length / 4)
  const kernel = await group.compile({ wgsl })
  const program = group.record((r) => r.dispatch(kernel, { workgroups: 1, args: { x } }))
  await group.queue.run(program)
  configureFake({ ...settings, FAKE_CUDA_BUSY_MS: milliseconds })
  const running = code(group.queue.run(program, 1, { timeoutSeconds: 0.2 }))
  const reading = code(group.queue.read(x))
  expect([await running, await reading]).toEqual(['timeout', 'device-lost'])
  configureFake(settings)
  return group
}

it('another group computes on, while the run lasts and when it has ended', async () => {
  configureFake(settings)
  const other = await open('other')
  const y = await other.devices[0]!.allocate('u8', 16)
  const program = other.record((r) => r.fill(y, 7))
  const lost = await abandoned('lost', 1000, 16)
  const end = performance.now() + 2000
  let runs = 0
  while (performance.now() < end) {
    await other.queue.run(program, 3)
    expect(await other.queue.read(y)).toEqual(new Uint8Array(16).fill(7))
    runs += 1
    await setTimeout(10)
  }
  expect(runs).toBeGreaterThan(1)
  expect(await code(lost.queue.read(y))).toBe('device-lost')
  await lost.destroy()
  for (const resource of [program, y]) resource.destroy()
  expect(await other.destroy()).toEqual({ leaks: [] })
})

it('memory comes back once the run has ended, whether the group is destroyed before or after', async () => {
  configureFake(settings)
  for (const endsFirst of [false, true]) {
    const lost = await abandoned('lost', 700, groupMemory * 0.9)
    if (endsFirst) await setTimeout(1500)
    await lost.destroy()
    const next = await open('next')
    let outcome: string
    const late = performance.now() + 10_000
    do {
      await setTimeout(20)
      outcome = await code(next.devices[0]!.allocate('u8', groupMemory * 0.9))
    } while (outcome === 'out-of-memory' && performance.now() < late)
    expect(outcome).toBe('none')
    await next.destroy()
  }
})

it('work of a lost command queue that does not end costs its group, which can be destroyed, and no other', async () => {
  configureFake(settings)
  const [lost, other] = [await open('lost'), await open('other')]
  const x = await lost.devices[0]!.allocate('u32', 4)
  const queue = openDeviceCommands(lost.devices[0]!, {
    ...{ label: 'queue', timeoutSeconds: 0.2, flush: () => {}, onMessage: () => {} },
  })
  queue.createBuffer(1, 64, 'device')
  queue.createBuffer(2, 64, 'host')
  await queue.fence()
  configureFake({ ...settings, FAKE_CUDA_COPY_MS: 15_000 })
  queue.submit([], 1, Float64Array.from([commandWords.copy, 1, 0, 2, 0, 64]), new Uint8Array())
  const fenced = queue.fence()
  await expect(fenced).rejects.toMatchObject({ code: 'timeout' })
  configureFake(settings)
  const y = await other.devices[0]!.allocate('u32', 4)
  expect(await other.queue.read(y)).toEqual(new Uint32Array(4))
  const before = performance.now()
  const reading = code(lost.queue.read(x))
  await lost.destroy()
  expect(performance.now() - before).toBeLessThan(13_000)
  expect(await reading).toBe('device-lost')
  expect(await other.queue.read(y)).toEqual(new Uint32Array(4))
  y.destroy()
  // The memory of the lost group comes back with the end of its work.
  await setTimeout(6000)
  expect(await other.destroy()).toEqual({ leaks: [] })
}, 60_000)
