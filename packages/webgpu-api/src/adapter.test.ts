import { referenceBackend } from '@tandem-gpu/core/testing'
import { describe, expect, it } from 'vitest'
import { createGPU, destroyGPU } from './create-gpu.ts'
import { defaultLimits, limitNames } from './limits.ts'
import { mapMode, onReference, openedGpu, rejection, testedBackend, usage } from './testing-gpu.ts'

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

  it('lists the language features that a module may use', async () => {
    const features = opened.gpu.wgslLanguageFeatures
    const device = await (await adapterOf()).requestDevice()
    device.pushErrorScope('validation')
    for (const feature of features) device.createShaderModule({ code: `requires ${feature};` })
    device.createShaderModule({
      code: `@group(0) @binding(0) var<storage> b: buffer;
        fn f() -> u32 { var v: vec2u; v.yx = *bufferView<vec2u>(&b, 8); return v.x; }`,
    })
    expect(await device.popErrorScope()).toBeNull()
    for (const used of ['buffer_view', 'swizzle_assignment']) expect(features.has(used)).toBe(true)
    device.destroy()
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
    device.destroy()
  })

  it('features are a set of strings', async () => {
    const { features } = await adapterOf()
    const all = [...features]
    expect([features.size, [...features.keys()], [...features.values()]]).toEqual([all.length, all, all])
    expect([...features.entries()]).toEqual(all.map((name) => [name, name]))
    const seen: unknown[] = []
    features.forEach(function (this: unknown, value, key, set) {
      seen.push([value, key, set === features, this])
    }, 'this')
    expect(seen.map((item) => (item as unknown[]).map(String))).toEqual(
      all.map((name) => [name, name, 'true', 'this']),
    )
    expect([features.keys, features[Symbol.iterator]]).toEqual([features.values, features.values])
    expect(features.has({ toString: () => 'shader-f16' } as unknown as string)).toBe(true)
    expect([features.has('unknown-feature'), 'add' in features]).toEqual([false, false])
    for (const call of [
      () => (features.has as () => unknown).call(features),
      () => features.forEach(undefined as never),
      () => Reflect.apply(features.has, {}, ['shader-f16']),
    ])
      expect(call).toThrow(TypeError)
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

describe('4.3 GPUAdapter: requestDevice of a group that has ended', () => {
  it('resolves to a GPUDevice that is lost, any number of times', async () => {
    const gpu = await createGPU({ backends: [await testedBackend(1)] })
    const adapter = (await gpu.requestAdapter())!
    await destroyGPU(gpu)
    expect(await rejection(adapter.requestDevice({ requiredLimits: { noLimit: 1 } }))).toBe('OperationError')
    for (let i = 0; i < 2; i++) {
      const settled: string[] = []
      const device = await adapter.requestDevice().then((device) => {
        void device.lost.then(() => settled.push('lost'))
        return device
      })
      // `lost` has resolved before the promise of requestDevice does.
      await Promise.resolve()
      expect(settled).toEqual(['lost'])
      const { reason, message } = await device.lost
      expect([reason, message]).toEqual(['unknown', expect.stringContaining('WebGPU')])
      // Nothing is reported, and nothing throws.
      device.onuncapturederror = () => expect.unreachable()
      const buffer = device.createBuffer({ size: 8, usage: usage.MAP_READ, mappedAtCreation: true })
      expect(buffer.getMappedRange().byteLength).toBe(8)
      buffer.unmap()
      expect(await rejection(buffer.mapAsync(mapMode.READ))).toBe('AbortError')
      buffer.destroy()
      const code = '@compute @workgroup_size(1) fn lostFromTheStart() {}'
      const module = device.createShaderModule({ code })
      await device.createComputePipelineAsync({ layout: 'auto', compute: { module } })
      device.queue.submit([device.createCommandEncoder().finish()])
      await device.queue.onSubmittedWorkDone()
      expect(await device.popErrorScope()).toBeNull()
      device.destroy()
    }
  })
})

describe('3.6 optional capabilities', () => {
  it('adapters give the guarantees of 4.2.1', async () => {
    const { limits, features } = await adapterOf()
    const perStage =
      limits.maxSampledTexturesPerShaderStage +
      limits.maxSamplersPerShaderStage +
      limits.maxStorageBuffersPerShaderStage +
      limits.maxStorageTexturesPerShaderStage +
      limits.maxUniformBuffersPerShaderStage
    expect(limits.maxBindingsPerBindGroup).toBeGreaterThanOrEqual(2 * perStage)
    expect(limits.maxBindGroups).toBeLessThanOrEqual(limits.maxBindGroupsPlusVertexBuffers)
    expect(limits.maxVertexBuffers).toBeLessThanOrEqual(limits.maxBindGroupsPlusVertexBuffers)
    for (const alignment of [
      limits.minUniformBufferOffsetAlignment,
      limits.minStorageBufferOffsetAlignment,
    ]) {
      expect(alignment).toBeGreaterThanOrEqual(32)
      expect(Number.isInteger(Math.log2(alignment))).toBe(true)
    }
    expect(limits.maxUniformBufferBindingSize).toBeLessThanOrEqual(limits.maxBufferSize)
    expect(limits.maxStorageBufferBindingSize).toBeLessThanOrEqual(limits.maxBufferSize)
    expect(limits.maxStorageBufferBindingSize % 4).toBe(0)
    const { maxComputeInvocationsPerWorkgroup: invocations } = limits
    const sizes = [
      limits.maxComputeWorkgroupSizeX,
      limits.maxComputeWorkgroupSizeY,
      limits.maxComputeWorkgroupSizeZ,
    ]
    for (const size of sizes) expect(size).toBeLessThanOrEqual(invocations)
    expect(invocations).toBeLessThanOrEqual(sizes.reduce((product, size) => product * size, 1))
    expect(features.has('core-features-and-limits')).toBe(true)
  })

  it.skipIf(!onReference)(
    'a limit of one stage raises the limits of all stages (needs known limits)',
    async () => {
      const device = await opened.device({
        requiredLimits: { maxStorageBuffersInVertexStage: 12, maxStorageBuffersInFragmentStage: 10 },
      })
      const { limits } = device
      expect([
        limits.maxStorageBuffersPerShaderStage,
        limits.maxStorageBuffersInVertexStage,
        limits.maxStorageBuffersInFragmentStage,
        limits.maxStorageTexturesPerShaderStage,
      ]).toEqual([12, 12, 12, 4])
      device.destroy()
    },
  )

  it('GPUAdapterInfo has the same values for the adapter and its device', async () => {
    const adapter = await adapterOf()
    const device = await adapter.requestDevice()
    expect(adapter.info).toBe(adapter.info)
    expect(device.adapterInfo).toBe(device.adapterInfo)
    expect(device.adapterInfo).not.toBe(adapter.info)
    const values = (info: object) => {
      const found: Record<string, unknown> = {}
      for (const name in info) found[name] = info[name as keyof typeof info]
      return found
    }
    expect(values(device.adapterInfo)).toEqual(values(adapter.info))
    expect(Object.keys(values(adapter.info))).toEqual(
      expect.arrayContaining(['vendor', 'architecture', 'device', 'description', 'isFallbackAdapter']),
    )
    for (const name of ['vendor', 'architecture', 'device'] as const)
      expect(adapter.info[name]).toMatch(/^([a-z0-9]+(-[a-z0-9]+)*)?$/)
    device.destroy()
  })

  it('without the feature subgroups, subgroup sizes are 4 and 128', async () => {
    const gpu = await createGPU({ backends: [referenceBackend({ features: new Set(['shader-f16']) })] })
    const { info, features } = (await gpu.requestAdapter())!
    expect([...features]).toEqual(['core-features-and-limits', 'shader-f16'])
    expect([info.subgroupMinSize, info.subgroupMaxSize]).toEqual([4, 128])
    await destroyGPU(gpu)
  })
})
