import fc from 'fast-check'
import { expect, it } from 'vitest'
import { generatedElements } from '../element-source.ts'
import { describeOnBackends } from '../testing-groups.ts'
import { withLimits } from '../testing-limits.ts'
import { randomRuns } from '../testing-runs.ts'
import type { HistogramType } from './bin-edges.ts'
import { histogram } from './histogram.ts'
import { compileHistogram, type HistogramVariant } from './histogram-kernels.ts'
import { recordHistogram } from './record-histogram.ts'
import { countBins } from './verify-histogram.ts'

describeOnBackends('histogram', (backend) => {
  const slow = backend.name === 'reference'

  it.each([0, 1, 2, 4095, 4096, 4097, 70_001])('counts %i elements on three devices', async (elements) => {
    const group = await backend.group(3)
    const output = new Uint32Array(16)
    const report = await histogram(group, { elements, type: 'f32', bins: 16, output, warmup: 0 })
    expect(report).toMatchObject({
      verified: true,
      devices: 3,
      bytes: 4 * elements,
      outside: 0,
      notANumber: 0,
    })
    expect(report.counts).toEqual(output)
    expect(output.reduce((a, b) => a + b, 0)).toBe(elements)
  })

  it('has the same counts on 1, 2, 3, 4 and 7 devices, with and without access between them', async () => {
    const found = new Set<string>()
    for (const devices of [1, 2, 3, 4, 7])
      for (const peerAccess of devices === 3 ? [true, false] : [true]) {
        const group = await backend.group(devices, { peerAccess })
        const report = await histogram(group, { elements: 120_000, type: 'i32', bins: 200, warmup: 0 })
        expect(report.verified, report.verification).toBe(true)
        found.add(report.counts.join())
      }
    expect(found.size).toBe(1)
  })

  it('is right for any type, bins, range, device count and schedule', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          elements: fc.oneof(fc.nat(600), fc.nat(slow ? 20_000 : 100_000)),
          type: fc.constantFrom<HistogramType>('f32', 'i32', 'u32'),
          bins: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(256, 4096, 5000)),
          range: fc.constantFrom('none', 'narrow', 'wide', 'aside'),
          devices: fc.integer({ min: 1, max: 4 }),
          schedule: fc.constantFrom('serial' as const, 'overlapped' as const),
          seed: fc.nat(1000),
        }),
        async ({ devices, range, type, ...options }) => {
          const group = await backend.group(devices)
          const unit = type === 'f32' ? 1 : 2 ** 31
          const ends = {
            none: {},
            narrow: { low: 0.1, high: 0.3 },
            wide: { low: -3, high: 5 },
            aside: { low: 7, high: 9 },
          }
          const { low, high } = ends[range as 'narrow']
          const report = await histogram(group, {
            ...{ ...options, type, warmup: 0, repetitions: 2 },
            ...(low !== undefined && { low: low * unit, high: high * unit }),
          })
          expect(report.verified, report.verification).toBe(true)
          const counted = report.counts.reduce((a, b) => a + b, 0) + report.outside
          expect(counted).toBe(options.elements)
        },
      ),
      { numRuns: randomRuns(slow ? 6 : 12) },
    )
  })

  it.each(['workgroup', 'storage'] as const)(
    'puts elements at, above and below each edge where they belong, counted in %s',
    async (variant) => {
      const group = await backend.group(1)
      const f32: [number, number, number][] = [
        ...([
          [10, -1, 1],
          [256, 0, 1],
          [7, 1000, 1001],
          [100, -3.3e38, 3.3e38],
          [3, 1e-40, 5e-40],
        ] as [number, number, number][]),
        ...([
          [512, 1, 1 + 2 ** -20],
          [33, -5, -5],
        ] as [number, number, number][]),
      ]
      for (const [bins, low, high] of f32) {
        const kernels = await compileHistogram(group, { type: 'f32', bins, low, high, variant })
        const { edges } = kernels.bins
        const data = new Float32Array(5 * edges.length + 4)
        const bits = new Uint32Array(data.buffer)
        for (const [k, edge] of edges.entries()) {
          const value = Math.fround(edge)
          data.set([value, -value], 5 * k)
          data[5 * k + 2] = value
          data[5 * k + 3] = value
          bits[5 * k + 2]!++
          bits[5 * k + 3]!--
          data[5 * k + 4] = (value + Math.fround(edges[Math.min(bins, k + 1)]!)) / 2
        }
        data.set([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0], data.length - 4)
        // Below the smallest normal number, WGSL lets results be flushed, but not the elements themselves.
        await expectCounts(group, kernels, data, edges)
        kernels.destroy()
      }
      for (const [type, bins, low, high] of [
        ['u32', 256, 0, 256],
        ['u32', 256, 0, 255],
        ['u32', 10, 0, 2 ** 32],
        ['u32', 10, 5, 4294967295],
        ['u32', 10, -50, -1],
        ['u32', 10, 1e10, 2e10],
        ['u32', 3, -10, 1e10],
        ['i32', 4096, -(2 ** 31), 2 ** 31],
        ['i32', 7, -3.5, 12.25],
        ['i32', 1000, -4, 4],
      ] as const) {
        const kernels = await compileHistogram(group, { type, bins, low, high, variant })
        const { edges } = kernels.bins
        const near = [...edges].flatMap((edge) => [-1, -0.5, 0, 0.5, 1].map((d) => Math.round(edge + d)))
        const data = type === 'u32' ? Uint32Array.from(near) : Int32Array.from(near)
        await expectCounts(group, kernels, data, edges)
        kernels.destroy()
      }
    },
  )

  async function expectCounts(
    group: Awaited<ReturnType<typeof backend.group>>,
    kernels: Awaited<ReturnType<typeof compileHistogram>>,
    data: Float32Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>,
    edges: Float64Array,
    limits = {},
  ) {
    const device = group.devices[0]!
    const input = await device.allocate(kernels.type, data.length)
    const output = await device.allocate('u32', edges.length + 1)
    await group.queue.write(input, data as never)
    const program = group.record((recorder) =>
      recordHistogram(withLimits(recorder, limits), { kernels, input: [input], output }),
    )
    await group.queue.run(program)
    const expected = new Float64Array(edges.length + 1)
    countBins(data, edges, expected)
    expect([...(await group.queue.read(output))]).toEqual([...expected])
    const commands = program.plan.commands.length
    for (const resource of [program, input, output]) resource.destroy()
    return commands
  }

  it('counts between given edges, equal and infinite ones too', async () => {
    const group = await backend.group(2)
    const input = Float32Array.of(-1, 0, -0, 0.5, 1, 1, 2, 1e30, Number.POSITIVE_INFINITY, 0, 0, 0, 0)
    // Both signs of NaN, and those next to the infinities.
    new Uint32Array(input.buffer).set([0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001], 9)
    const run = (edges: number[]) => histogram(group, { elements: input.length, type: 'f32', edges, input })
    expect(await run([0, 1, 1, 2])).toMatchObject({
      ...{ verified: true, counts: Uint32Array.of(3, 0, 3), outside: 3, notANumber: 4 },
    })
    expect(await run([0, 1, 1])).toMatchObject({ verified: true, counts: Uint32Array.of(3, 2), outside: 4 })
    expect(await run([Number.NEGATIVE_INFINITY, 0.1, Number.POSITIVE_INFINITY])).toMatchObject({
      ...{ verified: true, counts: Uint32Array.of(3, 6), outside: 0, notANumber: 4 },
    })
    // Between two neighbours of f32.
    expect(await run([1 + 1e-9, 1 + 2e-9])).toMatchObject({ verified: true, counts: Uint32Array.of(0) })
    expect(await run([1 - 1e-9, 1 + 1e-9])).toMatchObject({ verified: true, counts: Uint32Array.of(2) })
  })

  it('cuts the work where one dispatch would exceed the limits', async () => {
    const group = await backend.group(1)
    const data = new Float32Array(30_000)
    generatedElements('f32', 3)(0, data)
    const variant: HistogramVariant = backend.name === 'cuda' ? 'workgroup' : 'storage'
    const kernels = await compileHistogram(group, { type: 'f32', bins: 50, low: -1, high: 0.5, variant })
    const { edges } = kernels.bins
    const limits = { maxStorageBindingByteLength: 40_000, maxWorkgroupsPerDimension: 2 }
    expect(await expectCounts(group, kernels, data, edges, limits)).toBeGreaterThan(3)
    kernels.destroy()
  })

  it('finds the range of the elements, and says why it cannot', async () => {
    const group = await backend.group(2)
    const run = (values: number[]) =>
      histogram(group, { elements: values.length, type: 'f32', bins: 2, input: Float32Array.from(values) })
    expect([...(await run([3, 1, 2])).edges]).toEqual([1, 2, 3])
    expect([...(await run([4, 4])).edges]).toEqual([3.5, 4, 4.5])
    expect([...(await run([])).edges]).toEqual([0, 0.5, 1])
    await expect(run([1, Number.NaN])).rejects.toMatchObject({
      ...{
        code: 'validation',
        message: expect.stringContaining('Set the range of the bins (low and high).'),
      },
    })
    await expect(run([1, Number.POSITIVE_INFINITY])).rejects.toMatchObject({ code: 'validation' })
  })

  it('names options that do not fit', async () => {
    const group = await backend.group(1)
    const run = (options: object) => histogram(group, { elements: 4, type: 'f32', ...options })
    await expect(run({ low: 1 })).rejects.toThrow(/low and high must be set together/)
    await expect(run({ low: 2, high: 1 })).rejects.toThrow(/end at 1, which is below 2/)
    await expect(run({ low: 0, high: 1e39 })).rejects.toThrow(/high of the bins is 1e\+39/)
    await expect(run({ bins: 0 })).rejects.toThrow(/number of bins is 0/)
    await expect(run({ bins: 2 ** 25 })).rejects.toMatchObject({ code: 'too-large' })
    await expect(run({ edges: [1] })).rejects.toThrow(/at least 2/)
    await expect(run({ edges: [1, Number.NaN] })).rejects.toThrow(/Edge 1 is NaN/)
    await expect(run({ edges: [1, 0] })).rejects.toThrow(/Edge 1 is 0, below edge 0 \(1\)/)
    await expect(run({ edges: [0, 1], bins: 1 })).rejects.toThrow(/cannot be combined with them/)
    await expect(run({ edges: 7 })).rejects.toThrow(/must be an array/)
    await expect(
      compileHistogram(group, { type: 'f32', bins: 5000, low: 0, high: 1, variant: 'workgroup' }),
    ).rejects.toMatchObject({ code: 'too-large' })
  })
})
