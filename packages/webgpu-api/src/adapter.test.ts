import { describe, expect, it } from 'vitest'
import { createGPU, destroyGPU } from './create-gpu.ts'
import { defaultLimits, limitNames } from './limits.ts'
import { onReference, openedGpu, rejection, testedBackend } from './testing-gpu.ts'

const opened = openedGpu({ limits: { maxStorageBuffersPerDispatch: 16 } })
const adapterOf = async () => (await opened.gpu.requestAdapter())!

describe('4.2 navigator.gpu: requestAdapter', () => {
  it('returns a new adapter for each call', async () => {
    expect(await adapterOf()).not.toBe(await adapterOf())
    expect(Object.prototype.toString.call(await adapterOf())).toBe('[object GPUAdapter]')
  })

  it('returns null for an unknown feature level', async () => {
    expect(await opened.gpu.requestAdapter({ featureLevel: 'cutting-edge' })).toBeNull()
    expect(await opened.gpu.requestAdapter({ featureLevel: 'compatibility' })).not.toBeNull()
  })

  it('rejects for an unknown power preference', async () => {
    expect(await rejection(opened.gpu.requestAdapter({ powerPreference: 'loud' as 'low-power' }))).toBe(
      'TypeError',
    )
    expect(await opened.gpu.requestAdapter({ powerPreference: 'low-power' })).not.toBeNull()
  })

  it.skipIf(!onReference)(
    'returns a fallback adapter if the device is the CPU, and marks it as one (needs a software adapter)',
    async () => {
      const adapter = await opened.gpu.requestAdapter({ forceFallbackAdapter: true })
      expect(adapter!.info.isFallbackAdapter).toBe(true)
      expect(adapter!.info).toMatchObject({ vendor: 'tandem', subgroupMinSize: 32, subgroupMaxSize: 32 })
    },
  )

  it('lists each language feature once', () => {
    const features = opened.gpu.wgslLanguageFeatures
    expect(features.has('pointer_composite_access')).toBe(true)
    expect([...features].length).toBe(features.size)
  })
})

describe('4.3 GPUAdapter: requestDevice', () => {
  it('rejects a second device', async () => {
    const adapter = await adapterOf()
    expect(await rejection(adapter.requestDevice({ requiredLimits: { maxBindGroups: 999 } }))).toBe(
      'OperationError',
    )
    const both = [adapter.requestDevice(), adapter.requestDevice()] as const
    expect(await Promise.all(both.map(rejection))).toEqual(['resolved', 'OperationError'])
    ;(await both[0]).destroy()
  })

  it.each([
    ['TypeError', { requiredFeatures: ['no-feature'] }],
    ['TypeError', { requiredFeatures: ['texture-compression-bc'] }],
    ['TypeError', { requiredFeatures: 5 }],
    ['TypeError', { requiredLimits: { maxBindGroups: -1 } }],
    ['TypeError', { requiredLimits: { maxBindGroups: Number.NaN } }],
    ['TypeError', { requiredLimits: { maxBindGroups: 2 ** 53 } }],
    ['TypeError', 7],
    ['OperationError', { requiredLimits: { noLimit: 1 } }],
    ['OperationError', { requiredLimits: { maxImmediateSize: 16 } }],
    // No device has this many bindings: CUDA's kernel parameters and the reference runtime allow fewer.
    ['OperationError', { requiredLimits: { maxStorageBuffersPerShaderStage: 1_000_000 } }],
    ['OperationError', { requiredLimits: { minUniformBufferOffsetAlignment: 128 } }],
    ['OperationError', { requiredLimits: { minUniformBufferOffsetAlignment: 257 } }],
    ['OperationError', { requiredLimits: { minUniformBufferOffsetAlignment: 2 ** 32 } }],
    ['resolved', { requiredLimits: { noLimit: undefined } }],
    ['resolved', { requiredLimits: { maxBindGroups: 0 } }],
    ['resolved', undefined],
  ])('%s for %o', async (outcome, descriptor) => {
    const asked = (await adapterOf()).requestDevice(descriptor as GPUDeviceDescriptor)
    expect(await rejection(asked)).toBe(outcome)
    if (outcome === 'resolved') (await asked).destroy()
  })

  it.skipIf(!onReference)(
    'returns the requested limits, and the defaults otherwise (needs known limits)',
    async () => {
      const adapter = await adapterOf()
      const device = await adapter.requestDevice({
        requiredLimits: {
          maxStorageBuffersPerShaderStage: 12,
          maxUniformBuffersPerShaderStage: 1,
          minStorageBufferOffsetAlignment: 512,
          maxComputeWorkgroupStorageSize: adapter.limits.maxComputeWorkgroupStorageSize,
        },
      })
      const changed: Partial<Record<string, number>> = {
        maxStorageBuffersPerShaderStage: 12,
        maxStorageBuffersInVertexStage: 12,
        maxStorageBuffersInFragmentStage: 12,
        maxComputeWorkgroupStorageSize: 49_152,
      }
      const limits = device.limits as unknown as Record<string, number>
      for (const name of limitNames) expect(limits[name], name).toBe(changed[name] ?? defaultLimits[name])
      expect('maxImmediateSize' in device.limits).toBe(false)
      device.destroy()
    },
  )

  it('returns the requested features, and those of every device', async () => {
    const adapter = await adapterOf()
    expect([...adapter.features]).toEqual([
      'core-features-and-limits',
      'timestamp-query',
      'shader-f16',
      'subgroups',
    ])
    const device = await adapter.requestDevice({ requiredFeatures: ['shader-f16', 'shader-f16'] })
    expect([...device.features].sort()).toEqual(['core-features-and-limits', 'shader-f16'])
    expect(device.adapterInfo).toBe(adapter.info)
    device.destroy()
  })

  it('accepts labels for the device and its queue', async () => {
    const device = await opened.device({ label: 'one', defaultQueue: { label: 'two' } })
    expect([device.label, device.queue.label]).toEqual(['one', 'two'])
    device.label = 'a\ud800b'
    expect(device.label).toBe('a\ufffdb')
    device.destroy()
  })
})

it('limits are never below the defaults', async () => {
  const { limits } = await adapterOf()
  for (const name of limitNames) {
    const value = (limits as unknown as Record<string, number>)[name]!
    if (name.startsWith('min')) expect(value, name).toBeLessThanOrEqual(defaultLimits[name])
    else expect(value, name).toBeGreaterThanOrEqual(defaultLimits[name])
  }
})

it('requestDevice rejects with the error of a group that has ended', async () => {
  const gpu = await createGPU({ backends: [await testedBackend(1)] })
  const adapter = (await gpu.requestAdapter())!
  await destroyGPU(gpu)
  await expect(adapter.requestDevice()).rejects.toMatchObject({ name: 'GpuError', code: 'device-lost' })
})
