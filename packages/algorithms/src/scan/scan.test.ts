import type { DeviceGroup } from '@tandem-gpu/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { generatedElements } from '../element-source.ts'
import { documentedPrefixes, documentedScan } from '../testing-documented-scan.ts'
import { describeOnBackends } from '../testing-groups.ts'
import { withLimits } from '../testing-limits.ts'
import { randomRuns } from '../testing-runs.ts'
import { recordPrefixes, recordScan } from './record-scan.ts'
import { scan } from './scan.ts'
import { compileScan, type ScanOperation, type ScanType, scanTileLength } from './scan-kernels.ts'

const bitsOf = (array: Float32Array | Int32Array | Uint32Array) =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('base64')

describeOnBackends('scan', (backend) => {
  const slow = backend.name === 'reference'
  // A CPU adapter takes up to a second to compile a kernel.
  const few = backend.name === 'webgpu'

  /** The contents of `output` after a scan with these kernels. */
  async function scanned(
    group: DeviceGroup,
    kernels: Awaited<ReturnType<typeof compileScan>>,
    data: Float32Array<ArrayBuffer>,
    { exclusive = false, offset = 0, limits = {} },
  ) {
    const device = group.devices[0]!
    const [input, output] = await Promise.all([1, 2].map(() => device.allocate('f32', data.length + offset)))
    const views = [input!, output!].map((buffer) => buffer.slice(offset, data.length))
    await group.queue.write(views[0]!, data)
    const program = group.record((recorder) =>
      recordScan(withLimits(recorder, limits), group, {
        ...{ kernels, exclusive },
        input: [views[0]!],
        output: [views[1]!],
      }),
    )
    const commands = program.plan.commands.length
    await group.queue.run(program)
    const result = await group.queue.read(views[1]!)
    for (const resource of [program, input!, output!]) resource.destroy()
    return { result, commands }
  }

  it.each([0, 1, 2, 3, 4, 5, 127, 128, 129, 4095, 4096, 4097, 32 * 4096 - 1, 32 * 4096 + 1])(
    'takes %i elements on three devices',
    async (elements) => {
      const group = await backend.group(3)
      const output = new Int32Array(elements)
      const report = await scan(group, { elements, type: 'i32', output, warmup: 0 })
      expect(report).toMatchObject({ verified: true, maxError: 0, devices: 3, bytes: 8 * elements })
      expect(report.slices.reduce((a, b) => a + b, 0)).toBe(elements)
      const data = new Int32Array(elements)
      generatedElements('i32')(0, data)
      let sum = 0
      expect(output).toEqual(data.map((value) => (sum = (sum + value) | 0)))
    },
  )

  it('combines elements in the documented order in every variant', async () => {
    const group = await backend.group(1)
    const { info, features } = group.devices[0]!
    const of32 = features.has('subgroups') && info.subgroupMinSize === 32 && info.subgroupMaxSize === 32
    const data = new Float32Array(2 * scanTileLength + 1234)
    generatedElements('f32', 5)(0, data)
    for (const variant of ['serial', 'workgroup', ...(of32 ? (['subgroups'] as const) : [])] as const) {
      const kernels = await compileScan(group, { type: 'f32', variant })
      for (const exclusive of [false, true]) {
        const expected = bitsOf(documentedScan(data, exclusive))
        for (const offset of [0, 3]) {
          const { result } = await scanned(group, kernels, data, { exclusive, offset })
          expect(bitsOf(result) === expected, `${variant}, ${exclusive}, ${offset}`).toBe(true)
        }
      }
      // Three super-groups of sums.
      const sums = new Float32Array(2 * 1024 + 77)
      generatedElements('f32', 6)(0, sums)
      const prefixes = await group.devices[0]!.allocate('u32', sums.length)
      await group.queue.write(prefixes, new Uint32Array(sums.buffer))
      const program = group.record((recorder) => recordPrefixes(recorder, kernels, 0, prefixes))
      await group.queue.run(program)
      expect(bitsOf(await group.queue.read(prefixes))).toBe(bitsOf(documentedPrefixes(sums)))
      for (const resource of [program, prefixes, kernels]) resource.destroy()
    }
  })

  it('refuses subgroups whose size is not 32', async ({ skip }) => {
    const group = await backend.group(1)
    const { info, features } = group.devices[0]!
    skip(
      features.has('subgroups') && info.subgroupMinSize === 32,
      'the subgroups of the device have 32 lanes',
    )
    await expect(compileScan(group, { type: 'f32', variant: 'subgroups' })).rejects.toMatchObject({
      code: 'unsupported',
    })
  })

  it('gives sums of f32 the same bits on 1, 2, 3, 4 and 7 devices', async () => {
    const elements = 13 * scanTileLength + 77
    for (const exclusive of [false, true]) {
      const found = new Set<string>()
      for (const devices of [1, 2, 3, 4, 7])
        for (const peerAccess of devices === 3 && !few ? [true, false] : [true]) {
          const group = await backend.group(devices, { peerAccess })
          const output = new Float32Array(elements)
          const report = await scan(group, { elements, type: 'f32', exclusive, output, warmup: 0 })
          expect(report.verified, report.verification).toBe(true)
          found.add(bitsOf(output))
        }
      expect(found.size).toBe(1)
    }
  })

  it('is right for any length, operation, type, device count and schedule', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          elements: fc.oneof(fc.nat(600), fc.nat(slow ? 20_000 : 100_000)),
          operation: fc.constantFrom<ScanOperation>('sum', 'min', 'max'),
          type: fc.constantFrom<ScanType>('f32', 'i32', 'u32'),
          exclusive: fc.boolean(),
          devices: fc.integer({ min: 1, max: 4 }),
          peerAccess: fc.boolean(),
          schedule: fc.constantFrom('serial' as const, 'overlapped' as const),
          seed: fc.nat(1000),
        }),
        async ({ devices, peerAccess, ...drawn }) => {
          // Groups without peer access use separate kernels.
          const options = {
            ...drawn,
            ...(few && !peerAccess && ({ operation: 'sum', type: 'i32' } as const)),
          }
          const group = await backend.group(devices, { peerAccess })
          const report = await scan(group, { ...options, warmup: 0, repetitions: 2 })
          expect(report.verified, report.verification).toBe(true)
          if (options.type !== 'f32' || options.operation !== 'sum') expect(report.maxError).toBe(0)
        },
      ),
      { numRuns: randomRuns(slow ? 6 : 12) },
    )
  })

  it.each([{ maxStorageBindingByteLength: 2 * 16_384 + 512 }, { maxWorkgroupsPerDimension: 2 }])(
    'splits the work where one dispatch would exceed %o',
    async (limits) => {
      const group = await backend.group(1)
      const data = new Float32Array(7 * scanTileLength + 5)
      generatedElements('f32', 6)(0, data)
      const kernels = await compileScan(group, { type: 'f32' })
      const { result, commands } = await scanned(group, kernels, data, { limits })
      expect(bitsOf(result)).toBe(bitsOf(documentedScan(data, false)))
      const whole = await scanned(group, kernels, data, {})
      if ('maxStorageBindingByteLength' in limits) expect(commands).toBeGreaterThan(whole.commands)
      kernels.destroy()
    },
  )

  it('wraps integers, keeps -0 in sums, and spreads NaN from where it stands', async () => {
    const group = await backend.group(2)
    const run = async (
      values: number[],
      { operation = 'sum', exclusive = false }: { operation?: ScanOperation; exclusive?: boolean } = {},
    ) => {
      const output = new Float32Array(values.length)
      const input = Float32Array.from(values)
      const report = await scan(group, {
        elements: values.length,
        type: 'f32',
        ...{ operation, exclusive, input, output },
      })
      expect(report.verified, report.verification).toBe(true)
      return [...output]
    }
    const unsigned = new Uint32Array(3)
    const input = Uint32Array.of(4294967295, 3, 4294967295)
    await scan(group, { elements: 3, type: 'u32', input, output: unsigned })
    expect([...unsigned]).toEqual([4294967295, 2, 1])
    expect(await run([-0, -0, 1])).toEqual([-0, -0, 1])
    expect(await run([-0, -0, 1], { exclusive: true })).toEqual([0, 0, 0])
    expect(await run([1, Number.POSITIVE_INFINITY, 2, Number.NEGATIVE_INFINITY, 3])).toEqual([
      ...[1, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.NaN, Number.NaN],
    ])
    const overflown = await run([3e38, 3e38, -3e38])
    expect(overflown.slice(0, 2)).toEqual([Math.fround(3e38), Number.POSITIVE_INFINITY])
    const marked = [3, 0, -0, Number.NaN, -7, Number.NEGATIVE_INFINITY]
    expect(await run(marked, { operation: 'min' })).toEqual([3, 0, -0, Number.NaN, Number.NaN, Number.NaN])
    expect(await run([-1, -0, 0, -3], { operation: 'max', exclusive: true })).toEqual([
      ...[Number.NEGATIVE_INFINITY, -1, -0, 0],
    ])
    expect(await run([1e-45, -1e-45, 5], { operation: 'min', exclusive: true })).toEqual([
      ...[Number.POSITIVE_INFINITY, Math.fround(1e-45), -Math.fround(1e-45)],
    ])
  })

  it('says why parts do not fit', async () => {
    const group = await backend.group(2)
    const kernels = await compileScan(group, { type: 'f32' })
    const [a, b] = await Promise.all(group.devices.map((device) => device.allocate('f32', 200)))
    const integers = await group.devices[0]!.allocate('i32', 100)
    const record =
      (
        input: Parameters<typeof recordScan>[2]['input'],
        output: Parameters<typeof recordScan>[2]['output'],
      ) =>
      () =>
        group.record((recorder) => recordScan(recorder, group, { kernels, input, output }))
    const [first, second] = [a!.slice(0, 100), a!.slice(100, 100)]
    expect(record([first], [])).toThrow(/input has 1 parts, but the option output has 0/)
    expect(record([integers], [first])).toThrow(/input has type i32; it needs f32/)
    expect(record([first], [b!.slice(0, 100)])).toThrow(/on device 1; it needs 100 on device 0/)
    expect(record([first, second], [b!, b!])).toThrow(/Part 0 of the option output/)
    const c = await group.devices[0]!.allocate('f32', 200)
    expect(record([first, second], [c.slice(0, 100), c.slice(100, 100)])).toThrow(/Part 0 .* 100 elements/)
    for (const resource of [a!, b!, c, integers, kernels]) resource.destroy()
  })
})
