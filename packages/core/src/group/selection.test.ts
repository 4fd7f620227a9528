import { describe, expect, test } from 'vitest'
import { type Absence, type Adapter, portableLimits, type Telemetry } from '../backend/adapter.ts'
import type { Backend } from '../backend/backend.ts'
import { selectAdapters } from './selection.ts'

function adapter(name: string, telemetry?: Telemetry, software = false): Adapter {
  return {
    backend: 'fake',
    id: name,
    name,
    vendor: 'fake',
    software,
    limits: portableLimits,
    features: new Set(),
    ...(telemetry && { telemetry: async () => telemetry }),
  }
}

function backend(name: string, adapters: Adapter[], absence?: Absence): Backend {
  return {
    name,
    adapters: async () => ({ adapters, ...(absence && { absence }) }),
    open: () => Promise.reject(new Error('not opened here')),
  }
}

const none = backend('cuda', [], {
  code: 'no-driver',
  reason: 'libcuda.so.1 is not found.',
  remedy: 'Install the NVIDIA driver.',
})
const software = backend('webgpu', [adapter('SwiftShader', undefined, true)])
const gpus = backend('cuda', [
  adapter('A', {
    computeUtilization: 0.9,
    memoryFreeByteLength: 10 * 2 ** 30,
    memoryTotalByteLength: 20 * 2 ** 30,
    powerWatts: 100,
    temperatureCelsius: 60,
  }),
  adapter('B', {
    computeUtilization: 0.1,
    memoryFreeByteLength: 5 * 2 ** 30,
    memoryTotalByteLength: 20 * 2 ** 30,
    powerWatts: 300,
    temperatureCelsius: 30,
  }),
  adapter('C'),
  adapter('D', {
    computeUtilization: 0.1,
    memoryFreeByteLength: 15 * 2 ** 30,
    memoryTotalByteLength: 20 * 2 ** 30,
    powerWatts: 50,
    temperatureCelsius: 90,
  }),
])

const names = (adapters: readonly Adapter[]) => adapters.map(({ name }) => name).join('')

describe('selection of the backend', () => {
  test('prefers the first with hardware, whatever the order', async () => {
    const selection = await selectAdapters({ backends: [software, none, gpus] })
    expect(selection.backend).toBe(gpus)
    expect(names(selection.chosen)).toBe('ABCD')
    expect(selection.backends).toEqual([
      { name: 'webgpu', adapters: 1 },
      {
        name: 'cuda',
        adapters: 0,
        absence: {
          code: 'no-driver',
          reason: 'libcuda.so.1 is not found.',
          remedy: 'Install the NVIDIA driver.',
        },
      },
      { name: 'cuda', adapters: 4 },
    ])
    expect(selection.reason).toBe(
      'cuda has 4 devices (A, B, C, D); all are used. cuda was skipped: libcuda.so.1 is not found.',
    )
  })

  test('uses software if there is no hardware: one device, or as many virtual ones as requested', async () => {
    const one = await selectAdapters({ backends: [none, software] })
    expect(names(one.chosen)).toBe('SwiftShader')
    const four = await selectAdapters({ backends: [none, software], devices: 4 })
    expect(four.chosen).toHaveLength(4)
    expect(four.reason).toBe(
      'webgpu has 1 software adapter (SwiftShader); 4 virtual devices share 1 adapter. No backend has hardware. cuda was skipped: libcuda.so.1 is not found.',
    )
  })

  test('omits software adapters if there is hardware', async () => {
    const mixed = backend('webgpu', [adapter('S', undefined, true), adapter('H')])
    expect(names((await selectAdapters({ backends: [mixed] })).chosen)).toBe('H')
  })

  test('names what is missing when nothing is found', async () => {
    const failure = selectAdapters({ backends: [none, software], adapters: ({ software }) => !software })
    await expect(failure).rejects.toMatchObject({
      code: 'no-device',
      message:
        'No usable device was found. cuda: libcuda.so.1 is not found. Install the NVIDIA driver. webgpu has 1 adapter (SwiftShader), which the filter excludes.',
    })
    await expect(selectAdapters({ backends: [] })).rejects.toMatchObject({ code: 'no-device' })
  })

  test('never reaches the count with software devices, or with virtual ones that were not requested', async () => {
    const failure = selectAdapters({ backends: [gpus, software], devices: 5 })
    await expect(failure).rejects.toMatchObject({ code: 'no-device' })
    await expect(failure).rejects.toThrow('5 devices requested, but cuda has 4 devices (A, B, C, D).')
    const virtual = await selectAdapters({ backends: [gpus], devices: 6, virtual: true })
    expect(names(virtual.chosen)).toBe('ABCDAB')
    await expect(selectAdapters({ backends: [gpus], devices: 0 })).rejects.toMatchObject({
      code: 'validation',
    })
  })
})

describe('ranking', () => {
  test.each([
    ['index', 'ABCD'],
    ['utilization', 'BDAC'],
    ['memory', 'DABC'],
    ['power', 'DABC'],
    ['temperature', 'BADC'],
    ['score', 'DBAC'],
  ] as const)(
    'by %s puts the least loaded devices first and those without a reading last',
    async (by, order) => {
      const { ranked, chosen } = await selectAdapters({ backends: [gpus], by, devices: 2 })
      expect(names(ranked.map((entry) => entry.adapter))).toBe(order)
      expect(ranked.map(({ rank }) => rank)).toEqual([0, 1, 2, 3])
      expect(names(chosen)).toBe(order.slice(0, 2))
    },
  )

  test('gives reasons with the values', async () => {
    const reasons = async (by: 'memory' | 'utilization' | 'score') =>
      (await selectAdapters({ backends: [gpus], by })).ranked.map(({ reason }) => reason)
    expect(await reasons('utilization')).toEqual([
      'B is 10 % busy.',
      'D is 10 % busy.',
      'A is 90 % busy.',
      'C reports no utilization, so it comes last.',
    ])
    expect((await reasons('memory'))[0]).toBe('D has 15.0 GiB free.')
    expect((await reasons('score'))[0]).toBe('D scores 0.239: busy 10 %, memory used 25 %, temperature 90 %.')
  })
})

test('over several processes, devices come in rank order, whatever their load, and virtual ones are dealt in blocks', async () => {
  const busy = { computeUtilization: 1 }
  const ranked = (software: boolean) =>
    [adapter('a', busy, software), adapter('b', undefined, software), adapter('c', busy, software)].map(
      (each, rank) => ({ ...each, rank }),
    )
  const select = (options: object, software = true) =>
    selectAdapters({ backends: [backend('mpi', ranked(software))], by: 'utilization', ...options })
  expect(names((await select({})).chosen)).toBe('abc')
  expect(names((await select({ devices: 2 })).chosen)).toBe('ab')
  expect(names((await select({ devices: 5 })).chosen)).toBe('aabbc')
  expect((await select({ devices: 2 })).reason).toContain('the first in rank order')
  expect(names((await select({ devices: 7, virtual: true }, false)).chosen)).toBe('aaabbcc')
})
