import fc from 'fast-check'
import { expect, it } from 'vitest'
import { generatedElements } from '../element-source.ts'
import { referenceReduction } from '../testing/reference-results.ts'
import { describeOnBackends } from '../testing-groups.ts'
import { withLimits } from '../testing-limits.ts'
import { randomRuns } from '../testing-runs.ts'
import { recordReduction } from './record-reduction.ts'
import { reduce } from './reduce.ts'
import { type BestVariant, compileReduction, leafLength, reductionKernelNames } from './reduction-kernels.ts'
import { readBits } from './reference-reduction.ts'

describeOnBackends('reduce', (backend) => {
  const slow = backend.name === 'reference'
  // A CPU adapter takes up to a second to compile a kernel.
  const few = backend.name === 'webgpu'

  it.each(reductionKernelNames)('adds 100,003 integers with the %s kernel', async (kernel) => {
    const group = await backend.group(3)
    const report = await reduce(group, { elements: 100_003, type: 'i32', kernel, warmup: 0 })
    expect(report).toMatchObject({
      algorithm: 'reduce',
      kernel,
      operation: 'sum',
      devices: 3,
      shape: { elements: 100_003 },
      slices: [49_152, 49_152, 1_699],
      verified: true,
      maxError: 0,
      bytes: 400_012,
      unit: 'GB/s',
    })
    expect(report.valueBits).toMatch(/^0x[0-9a-f]{8}$/)
  })

  it.each([0, 1, 2, 3, 4, 255, 256, 257, 16_383, 16_384, 16_385, 65_537])(
    'takes %i elements',
    async (elements) => {
      const group = await backend.group(2)
      for (const kernel of ['sequential', 'best'] as const) {
        const report = await reduce(group, { elements, type: 'f32', kernel, warmup: 0 })
        expect(report).toMatchObject({ verified: true })
      }
    },
  )

  it('uploads in the timed run if asked, with the same bits', async () => {
    const group = await backend.group(2)
    // Two pieces on the first device: a piece is 256 leaves.
    const elements = slow ? 3 * leafLength + 5 : 512 * leafLength + 3 * leafLength + 5
    const options = { elements, type: 'f32', warmup: 0 } as const
    const stayed = await reduce(group, options)
    const uploaded = await reduce(group, { ...options, timeUploads: true, compareSchedules: true })
    expect([stayed.uploads, uploaded.uploads]).toEqual([false, true])
    expect(uploaded).toMatchObject({ verified: true, valueBits: stayed.valueBits, slices: stayed.slices })
    expect(await reduce(group, { ...options, elements: 0, timeUploads: true })).toMatchObject({ value: 0 })
  })

  it('is right for any length, kernel, operation, type, device count and schedule', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          elements: fc.oneof(fc.nat(600), fc.nat(slow ? 40_000 : 150_000)),
          kernel: fc.constantFrom(...reductionKernelNames),
          operation: fc.constantFrom('sum' as const, 'min' as const, 'max' as const),
          type: fc.constantFrom('f32' as const, 'i32' as const, 'u32' as const),
          devices: fc.integer({ min: 1, max: 4 }),
          peerAccess: fc.boolean(),
          schedule: fc.constantFrom('serial' as const, 'overlapped' as const),
          timeUploads: fc.boolean(),
          seed: fc.nat(1000),
        }),
        async ({ devices, peerAccess, ...drawn }) => {
          // Groups without peer access use separate kernels.
          const options = {
            ...drawn,
            ...(few && !peerAccess && ({ operation: 'sum', type: 'i32' } as const)),
          }
          fc.pre(options.kernel !== 'atomic' || options.type !== 'f32')
          const group = await backend.group(devices, { peerAccess })
          const report = await reduce(group, { ...options, warmup: 0, repetitions: 2 })
          expect(report).toMatchObject({ verified: true })
          if (options.type !== 'f32' || options.operation !== 'sum') expect(report.maxError).toBe(0)
        },
      ),
      { numRuns: randomRuns(slow ? 6 : 12) },
    )
  })

  it.each(reductionKernelNames.filter((name) => name !== 'atomic'))(
    `gives f32 sums by %s the same bits on 1, ${few ? '3' : '2, 3, 4'} and 8 devices`,
    async (kernel) => {
      const elements = 5 * leafLength + 77
      const bits = new Set<string>()
      for (const devices of few ? [1, 3, 8] : [1, 2, 3, 4, 8])
        for (const peerAccess of devices === 3 ? [true, false] : [true]) {
          const group = await backend.group(devices, { peerAccess })
          const report = await reduce(group, { elements, type: 'f32', kernel, warmup: 0 })
          expect(report.verified).toBe(true)
          bits.add(report.valueBits)
        }
      expect(bits.size).toBe(1)
    },
  )

  it('combines elements in the documented order in every variant of the best kernel', async () => {
    const group = await backend.group(1)
    const device = group.devices[0]!
    const length = 2 * leafLength + 1234
    const buffer = await device.allocate('f32', length + 3)
    const output = await device.allocate('f32', 1)
    const data = new Float32Array(length)
    generatedElements('f32', 5)(0, data)
    const bits = new Set<number>()
    for (const variant of ['vectors', 'serial'] satisfies BestVariant[]) {
      const kernels = await compileReduction(group, {
        kernel: 'best',
        operation: 'sum',
        type: 'f32',
        variant,
      })
      for (const offset of [0, 3]) {
        const view = buffer.slice(offset, length)
        await group.queue.write(view, data)
        const program = group.record((recorder) =>
          recordReduction(recorder, group, { kernels, input: [view], output }),
        )
        await group.queue.run(program)
        bits.add(await readBits(group, output))
        program.destroy()
      }
      kernels.destroy()
    }
    const expected = new Float32Array([documentedSum(data)])
    expect([...bits]).toEqual([new Uint32Array(expected.buffer)[0]])
    buffer.destroy()
    output.destroy()
  })

  it.for(['sum', 'min', 'max'] as const)(
    'gives the %s of integers the same value by subgroups',
    async (operation, { skip }) => {
      const group = await backend.group(1)
      const device = group.devices[0]!
      skip(!device.features.has('subgroups'), 'the device has no subgroups')
      const length = 2 * leafLength + 555
      const data = new Int32Array(length)
      generatedElements('i32', 9)(0, data)
      const buffer = await device.allocate('i32', length)
      const output = await device.allocate('i32', 1)
      await group.queue.write(buffer, data)
      const kernels = await compileReduction(group, {
        kernel: 'best',
        operation,
        type: 'i32',
        variant: 'subgroups',
      })
      const program = group.record((recorder) =>
        recordReduction(recorder, group, { kernels, input: [buffer], output }),
      )
      await group.queue.run(program)
      const problem = { type: 'i32', operation, length } as const
      expect(await readBits(group, output)).toBe((await referenceReduction(data, problem)).bits)
      for (const resource of [program, kernels, buffer, output]) resource.destroy()
    },
  )

  it('rejects subgroups for f32 sums, whose bits they would change', async () => {
    const group = await backend.group(1)
    await expect(
      compileReduction(group, { kernel: 'best', operation: 'sum', type: 'f32', variant: 'subgroups' }),
    ).rejects.toMatchObject({ code: 'unsupported' })
  })

  it.each([
    ['sequential', 10_000, { maxStorageBindingByteLength: 8192 }],
    ['sequential', 10_000, { maxWorkgroupsPerDimension: 7 }],
    ['best', 7 * leafLength + 5, { maxStorageBindingByteLength: 2 * 65_536 + 512 }],
    ['best', 7 * leafLength + 5, { maxWorkgroupsPerDimension: 3 }],
    ['atomic', 10_000, { maxStorageBindingByteLength: 8192, maxWorkgroupsPerDimension: 3 }],
  ] as const)(
    'splits %s of %i elements where one dispatch would exceed %o',
    async (kernel, length, limits) => {
      const group = await backend.group(1)
      const device = group.devices[0]!
      const kernels = await compileReduction(group, { kernel, operation: 'sum', type: 'i32' })
      const buffer = await device.allocate('i32', length)
      const output = await device.allocate('i32', 1)
      const data = new Int32Array(length)
      generatedElements('i32', 6)(0, data)
      await group.queue.write(buffer, data)
      const program = group.record((recorder) =>
        recordReduction(withLimits(recorder, limits), group, { kernels, input: [buffer], output }),
      )
      await group.queue.run(program)
      const problem = { type: 'i32', operation: 'sum', length } as const
      expect(await readBits(group, output)).toBe((await referenceReduction(data, problem)).bits)
      for (const resource of [program, kernels, buffer, output]) resource.destroy()
    },
  )

  it('wraps integer sums modulo 2^32', async () => {
    const group = await backend.group(2)
    const big = new Int32Array([2147483647, 1, 5])
    expect(await reduce(group, { elements: 3, type: 'i32', input: big })).toMatchObject({
      value: -2147483643,
      valueBits: '0x80000005',
      verified: true,
    })
    const unsigned = new Uint32Array([4294967295, 3])
    expect(await reduce(group, { elements: 2, type: 'u32', input: unsigned })).toMatchObject({
      value: 2,
      verified: true,
    })
  })

  it.each(['sequential', 'best'] as const)(
    'propagates NaN and orders zeros in min and max by %s',
    async (kernel) => {
      const group = await backend.group(2)
      const run = (values: number[], operation: 'min' | 'max') =>
        reduce(group, {
          elements: values.length,
          type: 'f32',
          kernel,
          operation,
          input: new Float32Array(values),
          warmup: 0,
        })
      const negativeNan = new Float32Array(new Uint32Array([0x3f800000, 0xffc12345, 0xc0000000]).buffer)
      for (const operation of ['min', 'max'] as const) {
        expect((await run([1, Number.NaN, -2], operation)).valueBits).toBe('0x7fc00000')
        const report = await reduce(group, {
          elements: 3,
          type: 'f32',
          kernel,
          operation,
          input: negativeNan,
          warmup: 0,
        })
        expect(report).toMatchObject({ valueBits: '0x7fc00000', verified: true })
      }
      expect((await run([0, -0, 0], 'min')).valueBits).toBe('0x80000000')
      expect((await run([-0, 0, -0], 'max')).valueBits).toBe('0x00000000')
      expect((await run([-1, Number.NEGATIVE_INFINITY, 7], 'min')).value).toBe(Number.NEGATIVE_INFINITY)
      expect((await run([-1.5, -2.5], 'max')).value).toBe(-1.5)
      expect((await run([1e-45, -1e-45], 'min')).valueBits).toBe('0x80000001')
    },
  )

  it('gives the identity for no elements', async () => {
    const group = await backend.group(2)
    const value = async (type: 'f32' | 'i32' | 'u32', operation: 'sum' | 'min' | 'max') => {
      const report = await reduce(group, { elements: 0, type, operation })
      expect(report.verified).toBe(true)
      return report.value
    }
    expect(await value('f32', 'sum')).toBe(0)
    expect(await value('f32', 'min')).toBe(Number.POSITIVE_INFINITY)
    expect(await value('i32', 'max')).toBe(-2147483648)
    expect(await value('u32', 'min')).toBe(4294967295)
  })

  it('says why the atomic kernel does not take f32', async () => {
    const group = await backend.group(1)
    await expect(reduce(group, { elements: 10, type: 'f32', kernel: 'atomic' })).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('atomic<f32>'),
    })
  })

  it('rejects parts whose lengths would change the bits', async () => {
    const group = await backend.group(1)
    const kernels = await compileReduction(group, { kernel: 'best', operation: 'sum', type: 'f32' })
    const buffer = await group.devices[0]!.allocate('f32', 101)
    const input = [buffer.slice(0, 50), buffer.slice(50, 50)]
    const output = buffer.slice(100, 1)
    expect(() =>
      group.record((recorder) => recordReduction(recorder, group, { kernels, input, output })),
    ).toThrow(/Part 0 .* 50 elements/)
    buffer.destroy()
    kernels.destroy()
  })
})

/** The order of best-vectors.wgsl, from its description, in f32. */
function documentedSum(data: Float32Array): number {
  const f = Math.fround
  const leaf = (values: Float32Array): number => {
    const at = (index: number) => values[index] ?? 0
    const lane = (t: number): number => {
      const part = (c: number): number => {
        const v = (k: number) => at(4 * (256 * k + t) + c)
        const a = [0, 1, 2, 3].map((i) => f(f(f(v(i) + v(i + 4)) + v(i + 8)) + v(i + 12)))
        return f(f(a[0]! + a[1]!) + f(a[2]! + a[3]!))
      }
      return f(f(part(0) + part(1)) + f(part(2) + part(3)))
    }
    let total = 0
    for (let g = 0; g < 16; g++) {
      let column = lane(g)
      for (let row = 1; row < 16; row++) column = f(column + lane(g + 16 * row))
      total = g === 0 ? column : f(total + column)
    }
    return total
  }
  let level = data
  do {
    const next = new Float32Array(Math.ceil(level.length / leafLength))
    for (let index = 0; index < next.length; index++)
      next[index] = leaf(level.subarray(index * leafLength, (index + 1) * leafLength))
    level = next
  } while (level.length > 1)
  return level[0]!
}
