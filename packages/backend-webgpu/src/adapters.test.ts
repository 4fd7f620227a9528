import { describe, expect, test } from 'vitest'
import { createBackend } from './backend.ts'
import { webgpu as webgpuInBrowser } from './browser.ts'
import { browserPlatform } from './browser-platform.ts'
import { dawnPlatform } from './dawn-platform.ts'
import { webgpu } from './index.ts'
import { chooseSources, findSources } from './platform.ts'

function fakeAdapter(description: string, isFallbackAdapter: boolean): GPUAdapter {
  const info = { vendor: 'v', architecture: 'a', device: 'd', description, isFallbackAdapter }
  return { info, limits: {}, features: new Set() } as unknown as GPUAdapter
}

/** A `GPU` that returns the given adapter for each kind of request. */
function fakeGpu(answers: { high?: GPUAdapter; low?: GPUAdapter; fallback?: GPUAdapter }): GPU {
  const requestAdapter = async (options: GPURequestAdapterOptions = {}) => {
    if (options.forceFallbackAdapter) return answers.fallback ?? null
    return (options.powerPreference === 'low-power' ? answers.low : answers.high) ?? null
  }
  return { requestAdapter } as unknown as GPU
}

const discrete = fakeAdapter('Discrete', false)
const integrated = fakeAdapter('Integrated', false)
const cpu = fakeAdapter('SwiftShader', true)

describe('the choice among adapters', () => {
  test('hardware comes before software, and each adapter counts once', async () => {
    const found = await findSources(fakeGpu({ high: discrete, low: integrated, fallback: cpu }))
    expect([found.hardware.length, found.software.length]).toEqual([2, 1])
    const same = await findSources(fakeGpu({ high: discrete, low: discrete }))
    expect([same.hardware.length, same.software.length]).toEqual([1, 0])
    expect(chooseSources(found, 'allow')).toBe(found.hardware)
    expect(chooseSources(found, 'prefer')).toBe(found.software)
    expect(chooseSources(found, 'never')).toBe(found.hardware)
  })

  test('a software adapter is recognized even if the browser does not mark it', async () => {
    const found = await findSources(fakeGpu({ high: fakeAdapter('llvmpipe (LLVM 19, 256 bits)', false) }))
    expect([found.hardware.length, found.software.length]).toEqual([0, 1])
    expect(chooseSources(found, 'allow')).toBe(found.software)
    expect(chooseSources(found, 'never')).toEqual([])
  })
})

describe('absence is a value', () => {
  test('without navigator.gpu', async () => {
    const { adapters, absence } = await createBackend({}, browserPlatform).adapters()
    // Node 24 has a navigator without gpu.
    expect(adapters).toEqual([])
    expect(absence?.code).toBe('no-driver')
    expect(absence?.reason).toContain('navigator.gpu')
  })

  test('with a gpu that has no adapter, or only one on the CPU that is not wanted', async () => {
    const none = await webgpuInBrowser({ gpu: fakeGpu({}) }).adapters()
    expect(none.absence?.reason).toContain('no adapter')
    const software = { gpu: fakeGpu({ high: cpu, fallback: cpu }), software: 'never' as const }
    for (const platform of [browserPlatform, dawnPlatform]) {
      const { adapters, absence } = await createBackend(software, platform).adapters()
      expect(adapters).toEqual([])
      expect(absence?.code).toBe('no-device')
      expect(absence?.reason).toContain('software is "never"')
    }
  })
})

describe('software adapter in Node', () => {
  test('reports what it is and what it can do', async () => {
    const environment = { ...process.env }
    const { adapters } = await webgpu({ software: 'prefer' }).adapters()
    const [adapter] = adapters
    expect(adapter).toMatchObject({ backend: 'webgpu', id: 'webgpu:0', software: true })
    expect(adapter!.limits.bindingOffsetAlignment).toBe(256)
    expect(adapter!.limits.maxBufferByteLength).toBeGreaterThanOrEqual(2 ** 28)
    expect(adapter!.limits.maxWorkgroupSize).toHaveLength(3)
    expect(adapter!.features.has('timestamps')).toBe(true)
    expect(process.env).toEqual(environment)
  })

  test.each([
    // Dawn in Node, Chromium with and without developer features.
    [
      { device: 'nvidia-h200', description: 'NVIDIA: 580.1' },
      { name: 'nvidia-h200', driver: 'NVIDIA: 580.1' },
    ],
    [{ device: '0x2335', description: 'NVIDIA H200' }, { name: 'NVIDIA H200' }],
    [{ device: '', description: '' }, { name: 'nvidia hopper' }],
  ])('an adapter with the information %j is named %j', async (told, expected) => {
    const info = { vendor: 'nvidia', architecture: 'hopper', isFallbackAdapter: false, ...told }
    const adapter = { info, limits: {}, features: new Set() } as unknown as GPUAdapter
    const { adapters } = await webgpuInBrowser({ gpu: fakeGpu({ high: adapter }) }).adapters()
    expect(adapters[0]).toMatchObject({ ...expected, vendor: 'nvidia', software: false })
    expect(adapters[0]!.driver).toBe('driver' in expected ? expected.driver : undefined)
  })

  test('toggles reach Dawn', async () => {
    const { adapters } = await webgpu({ software: 'prefer', toggles: ['disable_workgroup_init'] }).adapters()
    expect(adapters).toHaveLength(1)
  })

  test('adapters of another backend are refused', async () => {
    const { adapters } = await webgpu({ software: 'prefer' }).adapters()
    await expect(webgpu().open([adapters[0]!])).rejects.toMatchObject({ code: 'validation' })
    await expect(webgpu().open([])).rejects.toMatchObject({ code: 'validation' })
  })
})
