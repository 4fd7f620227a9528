import type { Runtime } from '@tandem-gpu/core/backend'
import { expect, test } from 'vitest'
import { openDevice } from './adapters.ts'
import { dawnPlatform } from './dawn-platform.ts'
import { toGpuError } from './gpu-errors.ts'
import { webgpu } from './index.ts'
import {
  allocateWith,
  contents,
  contiguous,
  kernelSource,
  PlanBuilder,
  patternBytes,
  region,
} from './testing/hand-built.ts'

async function ownDevice(): Promise<GPUDevice> {
  const { sources } = await dawnPlatform({})
  return openDevice(sources[0]!, 'test', 'test')
}

async function openOn(device: GPUDevice): Promise<Runtime> {
  const backend = webgpu({ device })
  const { adapters } = await backend.adapters()
  return backend.open([adapters[0]!, adapters[0]!])
}

test("the caller's own device works and outlives the runtime", async () => {
  const device = await ownDevice()
  const runtime = await openOn(device)
  expect(runtime.devices[0]).toMatchObject({ id: 'webgpu:device', backend: 'webgpu' })
  expect(runtime.devices[0]!.limits.maxBufferByteLength).toBe(device.limits.maxBufferSize)
  const bytes = patternBytes(100)
  expect(await contents(runtime, await allocateWith(runtime, 1, bytes))).toEqual(bytes)
  await runtime.dispose()
  expect((await runtime.lost).reason).toBe('destroyed')
  const again = await openOn(device)
  expect(await contents(again, await allocateWith(again, 0, bytes))).toEqual(bytes)
  await again.dispose()
  device.destroy()
})

test('a lost device rejects pending and later calls, and says so', async () => {
  const device = await ownDevice()
  const runtime = await openOn(device)
  const x = await runtime.allocate(0, 64, { label: 'x', zero: true })
  const plan = new PlanBuilder()
  const bx = plan.device(x)
  plan.add({ kind: 'fill', device: 0, target: region(bx, 0, 64), pattern: 1, patternByteLength: 4 })
  const executable = await runtime.instantiate(plan.build())
  const pending = runtime.run(executable, { times: 10_000_000 }).catch((error: unknown) => error)
  await new Promise((resolve) => setTimeout(resolve, 50))
  device.destroy()
  expect(await pending).toMatchObject({ code: 'device-lost' })
  expect((await runtime.lost).reason).toBe('destroyed')
  const later = [
    runtime.allocate(0, 4, { label: 'y', zero: true }),
    runtime.compile(kernelSource('@compute @workgroup_size(1) fn main() {}', [])),
    runtime.run(executable, { times: 1 }),
    runtime.read(contiguous(x), new Uint8Array(64)),
    runtime.write(contiguous(x), new Uint8Array(64)),
  ]
  for (const attempt of later) await expect(attempt).rejects.toMatchObject({ code: 'device-lost' })
  await runtime.dispose()
})

test('errors of the device become GpuErrors by their kind', () => {
  class GPUOutOfMemoryError extends Error {}
  class GPUValidationError extends Error {}
  const outOfMemory = toGpuError(new GPUOutOfMemoryError('no heap') as GPUError, 'gpu', 'allocate 4 bytes')
  expect(outOfMemory).toMatchObject({
    code: 'out-of-memory',
    message: 'The device "gpu" has no memory left to allocate 4 bytes: no heap',
  })
  const invalid = toGpuError(
    new GPUValidationError('bad\n    at Check (/dawn/a.cpp:3)\n\n') as GPUError,
    'gpu',
    'run "plan"',
  )
  expect(invalid).toMatchObject({ code: 'driver', message: 'The device "gpu" failed to run "plan": bad' })
})
