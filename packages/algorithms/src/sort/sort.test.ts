import type { DeviceGroup, Program } from '@tandem-gpu/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { generatedElements } from '../element-source.ts'
import { describeOnBackends } from '../testing-groups.ts'
import { randomRuns } from '../testing-runs.ts'
import { recordLocalSort } from './record-local-sort.ts'
import { recordSort } from './record-sort.ts'
import { sort } from './sort.ts'
import { compileSort, type SortType } from './sort-kernels.ts'
import { keysOf, stableOrder } from './verify-sort.ts'

const arrays = { f32: Float32Array, i32: Int32Array, u32: Uint32Array } as const

describeOnBackends('sort', (backend) => {
  const slow = backend.name === 'reference'

  /** Named input patterns, as functions of the length. */
  const shapes: Readonly<Record<string, (length: number) => Float32Array<ArrayBuffer>>> = {
    random: (length) => {
      const data = new Float32Array(length)
      generatedElements('f32', 4)(0, data)
      return data
    },
    'all equal': (length) => new Float32Array(length).fill(-3.5),
    'two values': (length) => Float32Array.from({ length }, (_, i) => ((i * 7) % 3 === 0 ? 1 : -1)),
    sorted: (length) => Float32Array.from({ length }, (_, i) => i - 1000),
    reversed: (length) => Float32Array.from({ length }, (_, i) => 1000 - i),
    'only NaN': (length) => new Float32Array(length).fill(Number.NaN),
    zeros: (length) => Float32Array.from({ length }, (_, i) => (i % 3 === 1 ? -0 : 0)),
    'infinities, subnormals and NaN': (length) =>
      Float32Array.from(
        { length },
        (_, i) =>
          [Number.POSITIVE_INFINITY, 1e-45, Number.NaN, -1e-45, 0, Number.NEGATIVE_INFINITY, -0, 3][i % 8]!,
      ),
  }

  it.each(Object.keys(shapes))('orders %s as a typed array does, and the other way round', async (name) => {
    const group = await backend.group(1)
    for (const elements of [5, 4097, 10_001]) {
      const input = shapes[name]!(elements)
      const output = new Float32Array(elements)
      const indices = new Uint32Array(elements)
      const options = { elements, type: 'f32', input, output, indices, warmup: 0 } as const
      const report = await sort(group, options)
      expect(report).toMatchObject({ verified: true, maxError: 0, values: 'indices', unit: 'Gelements/s' })
      const ascending = input.slice().sort()
      expect(output).toEqual(ascending)
      expect(indices).toEqual(stableOrder(keysOf(input, 'f32', false)))
      await sort(group, { ...options, descending: true })
      expect(output).toEqual(ascending.toReversed())
      expect(indices).toEqual(stableOrder(keysOf(input, 'f32', true)))
    }
  })

  it('writes every NaN as 0x7fc00000', async () => {
    const group = await backend.group(1)
    const input = new Float32Array(Uint32Array.of(0xffc12345, 0x3f800000, 0x7f800001).buffer)
    for (const [descending, expected] of [
      [false, [0x3f800000, 0x7fc00000, 0x7fc00000]],
      [true, [0x7fc00000, 0x7fc00000, 0x3f800000]],
    ] as const) {
      const output = new Float32Array(3)
      await sort(group, { elements: 3, type: 'f32', input, output, descending })
      expect([...new Uint32Array(output.buffer)]).toEqual(expected)
    }
  })

  it('is right for any length, type, values and schedule', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          elements: fc.oneof(fc.nat(3), fc.nat(300), fc.nat(slow ? 4000 : 60_000)),
          type: fc.constantFrom<SortType>('f32', 'i32', 'u32'),
          descending: fc.boolean(),
          moved: fc.constantFrom('none', 'values', 'indices'),
          schedule: fc.constantFrom('serial' as const, 'overlapped' as const),
          devices: fc.integer({ min: 1, max: 4 }),
          seed: fc.nat(1000),
        }),
        async ({ devices, moved, ...options }) => {
          const group = await backend.group(devices)
          const { elements, type } = options
          const output = new arrays[type](elements)
          const report = await sort(group, {
            ...{ ...options, output: output as never, warmup: 0, repetitions: 2 },
            ...(moved === 'values' && { values: new Uint32Array(elements).map((_, i) => 3 * i) }),
            ...(moved === 'indices' && { indices: new Uint32Array(elements) }),
          })
          expect(report.verified, report.verification).toBe(true)
          const keys = keysOf(output, type, options.descending)
          expect(keys.every((key, i) => i === 0 || keys[i - 1]! <= key)).toBe(true)
        },
      ),
      { numRuns: randomRuns(slow ? 4 : 10) },
    )
  })

  it('gives the same bits on 1, 2, 3, 4 and 7 devices, whatever the keys', async () => {
    const edges = ['two values', 'infinities, subnormals and NaN']
    const names = slow ? edges : [...edges, 'all equal', 'reversed']
    for (const name of names) {
      const found = new Set<string>()
      for (const devices of slow ? [1, 3] : [1, 2, 3, 4, 7]) {
        const group = await backend.group(devices)
        const elements = 2003
        const [output, indices] = [new Float32Array(elements), new Uint32Array(elements)]
        const input = shapes[name]!(elements)
        const report = await sort(group, { elements, type: 'f32', input, output, indices, warmup: 0 })
        expect(report.verified, `${name} on ${devices}: ${report.verification}`).toBe(true)
        found.add([output, indices].map(({ buffer }) => Buffer.from(buffer).toString('base64')).join())
      }
      expect(found.size).toBe(1)
    }
  })

  it('sorts by two programs where devices do not reach each other, to the same bits', async () => {
    const names = ['random', 'two values', 'infinities, subnormals and NaN']
    for (const name of names)
      for (const devices of slow ? [3] : [2, 3, 7]) {
        const group = await backend.group(devices, { peerAccess: false })
        const alone = await backend.group(1)
        const elements = 2003
        const input = shapes[name]!(elements)
        const programs: Program[] = []
        const work = async (on: DeviceGroup, descending: boolean) => {
          const [output, indices] = [new Float32Array(elements), new Uint32Array(elements)]
          const onProgram = (program: Program) => void programs.push(program)
          const options = { elements, type: 'f32', input, output, indices, descending, onProgram } as const
          const report = await sort(on, { ...options, warmup: 0, repetitions: 2 })
          expect(report, `${name} on ${devices}`).toMatchObject({
            verified: true,
            devices: on.devices.length,
          })
          expect(report.notes).toHaveLength(on === group ? 1 : 0)
          return [output, indices].map(({ buffer }) => Buffer.from(buffer).toString('base64'))
        }
        for (const descending of [false, true])
          expect(await work(group, descending), `${name} on ${devices}`).toEqual(
            await work(alone, descending),
          )
        const labels = [': partition', ': exchange', ''].map((end) => `sort ${elements} f32${end}`)
        expect(programs.map(({ label }) => label)).toEqual([...labels, ...labels])
      }
  })

  it('moves given values by two programs, under both schedules, with a trace', async () => {
    const group = await backend.group(3, { peerAccess: false })
    const elements = slow ? 700 : 30_001
    const values = Int32Array.from({ length: elements }, (_, i) => 5 - i)
    const [output, valuesOutput] = [new Uint32Array(elements), new Int32Array(elements)]
    let traced = 0
    const report = await sort(group, {
      ...{ elements, type: 'u32', output, values, valueType: 'i32', valuesOutput, warmup: 0 },
      ...{ schedule: 'serial', compareSchedules: true, trace: () => void traced++ },
    })
    expect(report).toMatchObject({ verified: true, values: 'i32', comparison: expect.anything() })
    expect(traced).toBe(1)
    const input = new Uint32Array(elements)
    generatedElements('u32', 1)(0, input)
    expect(valuesOutput).toEqual(Int32Array.from(stableOrder(input), (index) => 5 - index))
  })

  it('says that one program cannot sort over devices that do not reach each other', async () => {
    const group = await backend.group(2, { peerAccess: false })
    const kernels = await compileSort(group, { type: 'u32' })
    const [input, output] = await Promise.all(
      [1, 2].map(() => Promise.all(group.devices.map((device) => device.allocate('u32', 4)))),
    )
    expect(() =>
      group.record((recorder) => recordSort(recorder, group, { kernels, input: input!, output: output! })),
    ).toThrow(expect.objectContaining({ code: 'unsupported', message: expect.stringContaining('Call sort') }))
    for (const resource of [kernels, ...input!, ...output!]) resource.destroy()
  })

  it('says how many devices a sort can use, and which kernels several devices need', async () => {
    const group = await backend.group(17)
    const [input, output] = await Promise.all(
      [1, 2].map(() => Promise.all(group.devices.map((device) => device.allocate('u32', 1)))),
    )
    const kernels = await compileSort(group, { type: 'u32', variant: 'serial' })
    const record = (own: typeof kernels, count: number) => () =>
      group.record((recorder) =>
        recordSort(recorder, group, {
          ...{ kernels: own, input: input!.slice(0, count), output: output!.slice(0, count) },
        }),
      )
    expect(record(kernels, 17)).toThrow(
      expect.objectContaining({
        code: 'unsupported',
        message: expect.stringContaining('at most 16 devices'),
      }),
    )
    record(kernels, 16)().destroy()
    expect(record({ ...kernels, several: undefined }, 2)).toThrow(/compiled for a group of one device/)
    for (const resource of [kernels, ...input!, ...output!]) resource.destroy()
  })

  it('takes more devices than elements', async () => {
    const group = await backend.group(7)
    for (const elements of slow ? [0, 1, 3] : [0, 1, 2, 6, 8]) {
      const indices = new Uint32Array(elements)
      const report = await sort(group, { elements, type: 'i32', indices, descending: true, warmup: 0 })
      expect(report).toMatchObject({ verified: true, devices: 7 })
    }
  })

  it('gives the same order in every variant', async () => {
    const group = await backend.group(1)
    const { info, features } = group.devices[0]!
    const of32 = features.has('subgroups') && info.subgroupMinSize === 32 && info.subgroupMaxSize === 32
    // Compiling the other variants takes seconds on SwiftShader.
    const variants = of32
      ? (['subgroups', 'workgroup', 'serial'] as const)
      : (['workgroup', 'serial'] as const)
    for (const variant of variants) {
      const kernels = await compileSort(group, { type: 'i32', values: 'indices', variant })
      for (const length of slow && variant !== 'serial' ? [1, 6145] : [1, 6143, 6145, 20_000]) {
        const data = new Int32Array(length)
        generatedElements('i32', 7)(0, data)
        for (let i = 0; i < length; i += 3) data[i] = -5
        const found = await localSort(group, kernels, data)
        const order = stableOrder(keysOf(data, 'i32', false))
        expect(found.values, `${variant} of ${length}`).toEqual(order)
        expect(found.keys).toEqual(data.slice().sort())
      }
      kernels.destroy()
    }
  })

  async function localSort(
    group: DeviceGroup,
    kernels: Awaited<ReturnType<typeof compileSort>>,
    data: Int32Array<ArrayBuffer>,
  ) {
    const device = group.devices[0]!
    const [input, output] = await Promise.all([1, 2].map(() => device.allocate('i32', data.length)))
    const values = await device.allocate('u32', data.length)
    await group.queue.write(input!, data)
    const program = group.record((recorder) =>
      recordLocalSort(recorder, {
        ...{ kernels, descending: false, firstIndex: 0 },
        source: { keys: input! },
        target: { keys: output!, values },
      }),
    )
    await group.queue.run(program)
    const found = { keys: await group.queue.read(output!), values: await group.queue.read(values) }
    for (const resource of [program, input!, output!, values]) resource.destroy()
    return found
  }

  it('checks by hashes what is too long to compare', async ({ skip }) => {
    skip(slow, 'the reference executor takes minutes for a million elements')
    const group = await backend.group(1)
    const elements = 2 ** 20 + 5
    for (const moved of [{}, { indices: new Uint32Array(elements) }]) {
      const report = await sort(group, { elements, type: 'u32', ...moved, warmup: 0 })
      expect(report).toMatchObject({ verified: true, verification: expect.stringContaining('hashes') })
    }
  })

  it('says which options do not fit', async () => {
    const group = await backend.group(1)
    const run = (options: object) => sort(group, { elements: 4, type: 'f32', ...options })
    const four = new Uint32Array(4)
    await expect(run({ valuesOutput: four })).rejects.toThrow(/valuesOutput needs the option values/)
    await expect(run({ values: four, indices: four })).rejects.toThrow(/exclude each other/)
    await expect(run({ elements: 2 ** 32 })).rejects.toMatchObject({ code: 'too-large' })
    await expect(run({ values: new Float32Array(4) })).rejects.toThrow(/Float32Array; elements of u32/)
    const kernels = await compileSort(group, { type: 'f32', values: 'given' })
    const a = await group.devices[0]!.allocate('f32', 8)
    const words = await group.devices[0]!.allocate('u32', 8)
    type Options = Parameters<typeof recordSort>[2]
    const record = (options: Omit<Options, 'kernels'>) => () =>
      group.record((recorder) => recordSort(recorder, group, { kernels, ...options }))
    const [input, output] = [[a.slice(0, 4)], [a.slice(4, 4)]]
    expect(record({ input, output })).toThrow(/the option values has none/)
    expect(record({ input, output: [words.slice(0, 4)] })).toThrow(/has type u32; it needs f32/)
    expect(record({ input, output: [a.slice(4, 3)] })).toThrow(/has 3 elements on device 0; it needs 4/)
    const values = [words.slice(0, 4)]
    expect(record({ input, output, values })).toThrow(/the option sortedValues has none/)
    expect(
      record({
        input: [a.slice(0, 2), a.slice(2, 2)],
        output: [a.slice(4, 2), a.slice(6, 2)],
        values: [words.slice(0, 2), words.slice(2, 2)],
        sortedValues: [words.slice(4, 2), words.slice(6, 2)],
      }),
    ).toThrow(/one part on each device/)
    for (const resource of [a, words, kernels]) resource.destroy()
  })
})
