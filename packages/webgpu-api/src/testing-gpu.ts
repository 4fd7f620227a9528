import type { Backend } from '@tandem-gpu/core'
import { openGroup } from '@tandem-gpu/core'
import { type ReferenceBackendOptions, referenceBackend } from '@tandem-gpu/core/testing'
import { afterAll, beforeAll, expect } from 'vitest'
import {
  GPUBufferUsage as BufferUsage,
  GPUMapMode as MapMode,
  GPUShaderStage as ShaderStage,
} from './constants.ts'
import { createGPU, type GpuOptions } from './create-gpu.ts'

/** Whether the tests run on the reference runtime, whose limits are known. */
export const onReference = process.env.TANDEM_TEST_BACKEND === undefined

/** backend-cuda does not export the fake backend. */
const fakeBackend = new URL('../../backend-cuda/src/testing/fake-backend.ts', import.meta.url).pathname

/**
 * Selects the backend under test. TANDEM_TEST_BACKEND=cuda uses the NVIDIA GPUs of the machine, fake-cuda the
 * fake driver, whose kernels run as C++ on the CPU. The default is the reference runtime.
 */
export async function testedBackend(
  devices: number,
  options: ReferenceBackendOptions = {},
): Promise<Backend> {
  const name = process.env.TANDEM_TEST_BACKEND
  if (name === 'cuda') return (await import('@tandem-gpu/backend-cuda')).cuda()
  if (name === 'fake-cuda') return (await import(fakeBackend)).fakeCudaBackend(devices)
  return referenceBackend({ devices, ...options })
}

/**
 * Opens a group of `devices` devices of the tested backend and a GPU on it, for the duration of a test file.
 */
export function openedGpu({
  devices = 1,
  timeoutSeconds,
  ...options
}: ReferenceBackendOptions & GpuOptions = {}) {
  const opened = {
    backend: undefined as unknown as Backend,
    group: undefined as unknown as Awaited<ReturnType<typeof openGroup>>,
    gpu: undefined as unknown as GPU,
    /** Requests a new device from a new adapter. */
    async device(descriptor?: GPUDeviceDescriptor, ordinal = 0): Promise<GPUDevice> {
      const gpu = ordinal === 0 ? opened.gpu : await createGPU(opened.group.devices[ordinal]!)
      const adapter = await gpu.requestAdapter()
      const device = await adapter!.requestDevice(descriptor)
      device.onuncapturederror = (event) => {
        event.preventDefault()
        uncaptured.push(event.error.message)
      }
      return device
    },
  }
  const uncaptured: string[] = []
  beforeAll(async () => {
    opened.backend = await testedBackend(devices, options)
    opened.group = await openGroup({ backends: [opened.backend], devices, virtual: true })
    opened.gpu = await createGPU(opened.group.devices[0]!, { timeoutSeconds })
  })
  afterAll(async () => {
    await opened.group.destroy()
    // An unexpected device error fails the test.
    expect(uncaptured).toEqual([])
  })
  return opened
}

/** Returns the result of `body` and the validation error that it causes, if any. */
export async function validated<R>(
  device: GPUDevice,
  body: () => R,
  filter: GPUErrorFilter = 'validation',
): Promise<{ result: R; error: string | undefined }> {
  device.pushErrorScope(filter)
  const result = body()
  const error = await device.popErrorScope()
  return { result, error: error?.message }
}

/** Expects a validation error whose message matches, or none if `expected` is undefined. */
export async function expectValidation<R>(
  device: GPUDevice,
  expected: RegExp | undefined,
  body: () => R,
): Promise<R> {
  const { result, error } = await validated(device, body)
  if (expected === undefined) expect(error).toBeUndefined()
  else expect(error ?? 'no error').toMatch(expected)
  return result
}

/** The name of the DOMException that a promise rejects with, or `resolved`. */
export async function rejection(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'resolved',
    (error: Error) => error.name,
  )
}

export const usage = BufferUsage
export const mapMode = MapMode
export const stage = ShaderStage

/** The bytes of a buffer with COPY_SRC. */
export async function readBack(device: GPUDevice, buffer: GPUBuffer): Promise<Uint32Array> {
  const target = device.createBuffer({ size: buffer.size, usage: usage.MAP_READ | usage.COPY_DST })
  const encoder = device.createCommandEncoder()
  encoder.copyBufferToBuffer(buffer, target)
  device.queue.submit([encoder.finish()])
  await target.mapAsync(mapMode.READ)
  const words = new Uint32Array(target.getMappedRange()).slice()
  target.destroy()
  return words
}
