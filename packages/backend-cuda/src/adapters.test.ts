import { isGpuError } from '@tandem-gpu/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { findAdapters, identify, normalPciBusId } from './adapters.ts'
import type { Libraries } from './libraries.ts'
import { nvrtcFor } from './libraries.ts'
import { type NativeAddon, nativeAddon } from './native-addon.ts'
import { configureFake, fakeLibraries } from './testing/fake-driver.ts'
import { findTopology } from './topology.ts'

const libraries = fakeLibraries()
const addon = nativeAddon() as NativeAddon
/** A separate list makes the addon load and check the driver again. */
const fresh = (name: string): Libraries => ({ ...libraries, cuda: [`/nowhere/${name}`, ...libraries.cuda] })

beforeEach(() => configureFake())

describe('adapters', () => {
  it('describes every CUDA device', async () => {
    const { adapters, notes, absence } = await findAdapters(addon, libraries)
    expect(absence).toBeUndefined()
    expect(notes).toBeUndefined()
    expect(adapters).toHaveLength(2)
    expect(adapters[1]).toMatchObject({
      backend: 'cuda',
      id: 'cuda:GPU-a1a1a1a1-a1a1-a1a1-a1a1-a1a1a1a1a1a1',
      name: 'Fake GPU 1',
      vendor: 'nvidia',
      architecture: 'sm_90',
      driver: '580.00.fake',
      software: false,
      memoryByteLength: 2 ** 30,
      pciBusId: '0000:1c:00.0',
      index: 1,
      limits: {
        maxWorkgroupMemoryByteLength: 232_448,
        maxWorkgroupInvocations: 1024,
        maxWorkgroupSize: [1024, 1024, 64],
      },
    })
    const features = [
      'chromium-experimental-subgroup-matrix',
      'shader-f16',
      'subgroups',
      'timestamps',
      'trap',
    ]
    expect([...adapters[0]!.features].sort()).toEqual(features)
  })

  it('maps NVML indices, whose order and number differ from those of CUDA', async () => {
    configureFake({ FAKE_CUDA_DEVICES: 3 })
    const { adapters } = await findAdapters(addon, libraries)
    // The fake NVML lists the same devices in reverse, and one more that CUDA does not list.
    expect(adapters.map(({ index, nvmlIndex }) => [index, nvmlIndex])).toEqual([
      [0, 2],
      [1, 1],
      [2, 0],
    ])
    const readings = await Promise.all(adapters.map((adapter) => adapter.telemetry!()))
    expect(readings.map(({ computeUtilization }) => computeUtilization)).toEqual([0.1, 0.2, 0.3])
  })

  it('omits readings that a device does not report, and grows the list of processes', async () => {
    const { adapters } = await findAdapters(addon, libraries)
    const reading = await adapters[0]!.telemetry!()
    expect(reading).toMatchObject({
      powerWatts: 123.456,
      powerLimitWatts: 700,
      temperatureCelsius: 41,
      memoryUtilization: 0.05,
    })
    expect('fanPercent' in reading).toBe(false)
    expect(reading.processes).toHaveLength(20)
    expect(reading.processes![0]).toEqual({ pid: 1000, name: 'process-1000' })
    expect(reading.processes![5]).toEqual({ pid: 1005, memoryByteLength: 20_480 })
  })

  it('rejects with an error that has a code when NVML fails later', async () => {
    const { adapters } = await findAdapters(addon, libraries)
    for (const [result, code] of [
      [3, 'unsupported'],
      [15, 'driver'],
    ] as const) {
      configureFake({ FAKE_FAIL: `nvmlDeviceGetHandleByUUID:${result}:1` })
      const error = await adapters[0]!.telemetry!().catch((e: unknown) => e)
      expect(isGpuError(error, code), String(error)).toBe(true)
      expect(String(error)).toMatch(
        /Reading the sensors of GPU-a0a0.* failed: nvmlDeviceGetHandleByUUID returned/,
      )
    }
  })

  it('finds the GPU of a MIG slice by its bus id', () => {
    const nvml = [{ index: 4, uuid: 'GPU-1', pciBusId: '00000000:3D:00.0' }]
    expect(identify({ uuid: 'abc', pciBusId: '0000:3D:00.0' }, nvml)).toEqual({
      pciBusId: '0000:3d:00.0',
      uuid: 'MIG-abc',
      nvmlIndex: 4,
    })
    expect(normalPciBusId('00000001:0A:00.0')).toBe('0001:0a:00.0')
  })
})

describe('absence', () => {
  it('says which libraries were tried when there is no driver', async () => {
    const { adapters, absence } = await findAdapters(addon, { ...libraries, cuda: ['/nowhere/libcuda.so.1'] })
    expect(adapters).toEqual([])
    expect(absence?.code).toBe('no-driver')
    expect(absence?.reason).toMatch(/driver library cannot be loaded \(libcuda\.so\.1 is not in \/nowhere\)/)
    expect(absence?.remedy).toMatch(/driver 525 or newer/)
  })

  it('names both versions when the driver is too old', async () => {
    configureFake({ FAKE_CUDA_VERSION: 11_040 })
    const { absence } = await findAdapters(addon, fresh('old'))
    expect(absence?.code).toBe('no-driver')
    expect(absence?.reason).toMatch(/supports CUDA 11\.4, but this package needs CUDA 12\.0/)
  })

  it('distinguishes a machine without devices from one without a driver', async () => {
    configureFake({ FAKE_CUDA_DEVICES: 0 })
    const { absence } = await findAdapters(addon, fresh('empty'))
    expect(absence?.code).toBe('no-device')
    expect(absence?.remedy).toMatch(/CUDA_VISIBLE_DEVICES/)
  })

  it('works without NVML, with a note and without telemetry', async () => {
    const { adapters, notes } = await findAdapters(addon, {
      ...libraries,
      nvml: ['/nowhere/libnvidia-ml.so.1'],
    })
    expect(adapters).toHaveLength(2)
    expect(adapters[0]!.telemetry).toBeUndefined()
    expect(adapters[0]!.uuid).toBe('GPU-a0a0a0a0-a0a0-a0a0-a0a0-a0a0a0a0a0a0')
    expect(adapters[0]!.driver).toBe('CUDA 13.0')
    expect(notes).toHaveLength(1)
    expect(notes![0]).toMatch(/NVML cannot be loaded.*everything else works/)
  })
})

describe('topology', () => {
  it('counts direct links and those into a switch, and falls back to the PCI tree', async () => {
    configureFake({ FAKE_CUDA_DEVICES: 4 })
    const { adapters, links } = await findTopology(addon, libraries)
    expect(adapters.map((adapter) => adapter.index)).toEqual([0, 1, 2, 3])
    expect(links[0]).toEqual([
      { kind: 'self', peerAccess: true },
      { kind: 'nvlink', linkCount: 2, peerAccess: true },
      { kind: 'nvlink', linkCount: 1, peerAccess: true },
      { kind: 'system', peerAccess: true },
    ])
    const without = await findTopology(addon, { ...libraries, nvml: ['/nowhere/nvml.so'] })
    expect(without.links[0]![1]).toEqual({ kind: 'unknown', peerAccess: true })
  })
})

describe('NVRTC', () => {
  it('prefers releases that the driver can load', () => {
    const names = ['libnvrtc.so.13', 'libnvrtc.so.12', '/opt/libnvrtc.so']
    expect(nvrtcFor(names, 12_080)).toEqual(['libnvrtc.so.12', '/opt/libnvrtc.so', 'libnvrtc.so.13'])
    expect(nvrtcFor(names, 13_000)).toEqual(names)
  })
})
