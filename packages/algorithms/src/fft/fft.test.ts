import { type CompileOptions, type DeviceGroup, GpuError } from '@tandem-gpu/core'
import { describe, expect, it } from 'vitest'
import { generatedElements } from '../element-source.ts'
import { allocateSharded, shardedFromViews, writeSharded } from '../sharded-matrix.ts'
import { printFftPlan } from '../testing/print-fft-plan.ts'
import { describeOnBackends } from '../testing-groups.ts'
import { compileAnywhere, compileFft } from './compile-fft.ts'
import { type FftOptions, fft } from './fft.ts'
import { fftSources } from './fft-sources.ts'
import { type FftPlanOptions, fftLimits, planFft } from './plan-fft.ts'
import { matricesOf, recordFft } from './record-fft.ts'
import { referenceTransform } from './reference-fft.ts'
import { verifyFft } from './verify-fft.ts'

const hardware = { lines: true, workgroupMemoryByteLength: 232_448, workgroupInvocations: 1024 }

describe('planFft', () => {
  const print = (options: Omit<FftPlanOptions, 'limits'>) =>
    printFftPlan(planFft({ ...options, limits: hardware }))

  it('plans kernels of few large radices, squares, convolutions and stages, as data that prints', () => {
    expect(print({ shape: [512, 512, 512] })).toMatchInlineSnapshot(`
      "forward fft of 512 × 512 × 512 complex to 512 × 512 × 512 complex, order natural, times 1
        axis 2: lines of 8 · 8 · 8
        axis 1: lines of 32 · 16
        axis 0: lines of 32 · 16"
    `)
    expect(print({ shape: [8192, 8192], order: 'transposed', norm: 'ortho' })).toMatchInlineSnapshot(`
      "forward fft of 8192 × 8192 complex to 8192 × 8192 complex, order transposed, times 0.0001220703125
        axis 1: lines of 32 · 8 · 32
        axis 0: squares of (8 · 8) × (16 · 8), stored transposed"
    `)
    expect(print({ shape: [100, 1009], real: true, axes: [0, 1] })).toMatchInlineSnapshot(`
      "forward fft of 100 × 1009 real to 100 × 505 complex, order natural, times 1
        axis 1: lines of 1009 by a convolution of 2048 = 16 · 16 · 8, real to half
        axis 0: lines of 10 · 10"
    `)
    expect(print({ shape: [2 ** 20], direction: 'inverse' })).toMatchInlineSnapshot(`
      "inverse fft of 1048576 complex to 1048576 complex, order natural, times 9.5367431640625e-7
        axis 0: squares of (32 · 32) × (32 · 32)"
    `)
    expect(print({ shape: [3, 2 ** 22 + 15], axes: [1] })).toMatchInlineSnapshot(`
      "forward fft of 3 × 4194319 complex to 3 × 4194319 complex, order natural, times 1
        axis 1: lines of 4194319 by a convolution of 9437184 = 16 · 16 · 16 · 16 · 16 · 3 · 3 through memory"
    `)
    expect(print({ shape: [2 ** 24] })).toMatchInlineSnapshot(`
      "forward fft of 16777216 complex to 16777216 complex, order natural, times 1
        axis 0: stages of 16 · 16 · 16 · 16 · 16 · 16 through memory"
    `)
    const plan = planFft({ shape: [96, 1000], limits: hardware })
    expect(JSON.parse(JSON.stringify(plan))).toEqual(plan)
  })

  it('does not depend on how many devices there are, and not on the order where the bits would', () => {
    const methods = (order: 'natural' | 'transposed') =>
      planFft({ shape: [4096, 2048], order, limits: hardware }).passes.map(({ method }) => method)
    expect(methods('natural')).toEqual(methods('transposed'))
  })

  it.each<[string, object]>([
    ['The shape has no axes; it needs at least one.', { shape: [] }],
    ['The shape is 5; it must be an array of the lengths of the axes.', { shape: 5 }],
    ['The length of axis 1 is -2; it must be a whole number of at least 0.', { shape: [3, -2] }],
    ['The list of axes is empty; a transform needs at least one.', { shape: [3], axes: [] }],
    ['The axis 2 does not exist', { shape: [3, 4], axes: [2] }],
    ['The axis 0.5 does not exist', { shape: [3, 4], axes: [0.5] }],
    ['The axes 1, -1 contain a duplicate.', { shape: [3, 4], axes: [1, -1] }],
    [
      "The order 'transposed' needs an array of two or three axes; the shape has 1.",
      { shape: [4], order: 'transposed' },
    ],
    ['Axis 1 of a real transform is empty; it needs at least one value.', { shape: [4, 0], real: true }],
  ])('says "%s"', (message, options) => {
    const plan = () => planFft({ ...(options as FftPlanOptions), limits: hardware })
    expect(plan).toThrow(GpuError)
    expect(plan).toThrow(message)
  })
})

describeOnBackends('fft', (backend) => {
  it('transforms, verifies, and reports what it did', async () => {
    const group = await backend.group(3)
    const options = { shape: [12, 10], norm: 'ortho', seed: 3 } as const
    const output = new Float32Array(2 * 120)
    const report = await fft(group, { ...options, output })
    expect(report).toMatchObject({
      algorithm: 'fft',
      shape: { axis0: 12, axis1: 10 },
      axes: [0, 1],
      direction: 'forward',
      real: false,
      order: 'natural',
      inputShape: [12, 10],
      outputShape: [12, 10],
      devices: 3,
      verified: true,
      checked: true,
      unit: 'GFLOP/s',
      flops: Math.round(5 * 120 * Math.log2(120)),
    })
    expect(report.passes.map(({ axis }) => axis)).toEqual([1, 0])
    // The inverse restores the input.
    const back = new Float32Array(2 * 120)
    expect(
      (await fft(group, { ...options, direction: 'inverse', input: output, output: back })).verified,
    ).toBe(true)
    const input = new Float32Array(2 * 120)
    generatedElements('f32', 3)(0, input)
    for (const [i, value] of input.entries()) expect(back[i]).toBeCloseTo(value, 5)
  })

  it('takes arrays without values', async () => {
    const group = await backend.group(2)
    for (const shape of [[0], [0, 4], [4, 0], [3, 0, 2]])
      for (const direction of ['forward', 'inverse'] as const)
        expect(await fft(group, { shape, direction, output: new Float32Array() })).toMatchObject({
          verified: true,
        })
  })

  it('gives real numbers that the inverse brings back, in either order', async () => {
    const group = await backend.group(2)
    const input = new Float32Array(6 * 8 * 5)
    generatedElements('f32', 9)(0, input)
    const spectrum = new Float32Array(2 * 6 * 8 * 3)
    const there = await fft(group, {
      shape: [6, 8, 5],
      real: true,
      order: 'transposed',
      input,
      output: spectrum,
    })
    expect(there).toMatchObject({ verified: true, inputShape: [6, 8, 5], outputShape: [8, 6, 3] })
    const output = new Float32Array(input.length)
    const back = await fft(group, {
      ...{ shape: [8, 6, 5], real: true, direction: 'inverse', order: 'transposed' },
      ...{ input: spectrum, output },
    })
    expect(back).toMatchObject({ verified: true, inputShape: [8, 6, 3], outputShape: [6, 8, 5] })
    for (const [i, value] of input.entries()) expect(output[i]).toBeCloseTo(value, 5)
  })

  it('is linear, and turns shifts into factors', async () => {
    const group = await backend.group(1)
    const length = 30
    const transform = async (input: Float32Array<ArrayBuffer>) => {
      const output = new Float32Array(2 * length)
      await fft(group, { shape: [length], input, output })
      return output
    }
    const [x, y] = [1, 2].map((seed) => {
      const data = new Float32Array(2 * length)
      generatedElements('f32', seed)(0, data)
      return data
    }) as [Float32Array<ArrayBuffer>, Float32Array<ArrayBuffer>]
    const [fx, fy] = [await transform(x), await transform(y)]
    const sum = await transform(x.map((value, i) => value + 2 * y[i]!))
    for (const [i, value] of sum.entries()) expect(value).toBeCloseTo(fx[i]! + 2 * fy[i]!, 4)
    const shifted = await transform(Float32Array.from(x, (_, i) => x[(i + 2) % x.length]!))
    for (let k = 0; k < length; k++) {
      const [c, s] = [Math.cos((2 * Math.PI * k) / length), Math.sin((2 * Math.PI * k) / length)]
      expect(shifted[2 * k]).toBeCloseTo(fx[2 * k]! * c - fx[2 * k + 1]! * s, 4)
      expect(shifted[2 * k + 1]).toBeCloseTo(fx[2 * k]! * s + fx[2 * k + 1]! * c, 4)
    }
  })

  it.each<[string, object]>([
    ['The option shape of fft is missing.', {}],
    ['There is no option size', { shape: [4], size: 3 }],
    ["The option direction of fft is 'up'", { shape: [4], direction: 'up' }],
    ['The input has 3 elements, but the shape needs 8.', { shape: [4], input: new Float32Array(3) }],
    ['The output has 3 elements, but the shape needs 8.', { shape: [4], output: new Float32Array(3) }],
    [
      'The output has 8 elements, but the shape needs 6.',
      { shape: [4], real: true, output: new Float32Array(8) },
    ],
    ['elements of f32 need a Float32Array', { shape: [4], input: new Float64Array(8) }],
  ])('says "%s"', async (message, options) => {
    const group = await backend.group(1)
    await expect(fft(group, options as FftOptions)).rejects.toThrow(message)
  })

  it('takes kernels for any length where those of its lengths cannot be compiled', async () => {
    const group = await backend.group(2)
    const refused: string[] = []
    // A machine without NVRTC, which has only the kernels that are shipped.
    const withoutCompiler = {
      devices: group.devices,
      queue: group.queue,
      compile(options: CompileOptions) {
        if (/^fft (stage of \d+|chirp|mirror|\w+ to \w+)$/.test(options.label!)) return group.compile(options)
        refused.push(options.label!)
        return Promise.reject(new GpuError('unsupported', 'There is no NVRTC here.'))
      },
    } as unknown as DeviceGroup
    const limits = { ...fftLimits(group.devices), lines: true }
    for (const options of [
      { shape: [6, 20] },
      { shape: [4, 37], axes: [1] },
      { shape: [6, 20], real: true },
    ]) {
      const { compiled, notes } = await compileAnywhere(withoutCompiler, options, limits)
      expect(notes).toEqual([
        expect.stringMatching(/^Kernels for these lengths .* There is no NVRTC here\.$/),
      ])
      expect(compiled.plan.passes.map(({ method }) => method.kind)).not.toContain('line')
      compiled.destroy()
    }
    expect(refused.length).toBeGreaterThan(2)
    const other = {
      ...withoutCompiler,
      compile: () => Promise.reject(new GpuError('out-of-memory', 'Full.')),
    }
    await expect(compileAnywhere(other, { shape: [4] }, limits)).rejects.toThrow('Full.')
  })

  it('refuses matrices of other shapes, and slices with gaps', async () => {
    const group = await backend.group(1)
    const compiled = await compileFft(group, planFft({ shape: [4, 4], limits: fftLimits(group.devices) }))
    const input = await allocateSharded(group, 'f32', 4, 8)
    const wide = await allocateSharded(group, 'f32', 4, 16)
    const gaps = shardedFromViews(group, 'f32', [wide.slices[0]!.view.block(0, 0, 4, 8)])
    const record = (output: typeof input) => () =>
      group.record((recorder) => recordFft(recorder, group, { fft: compiled, input, output }))
    expect(record(wide)).toThrow('The output is 4 × 16 f32; complex numbers of shape 4 × 4 are 4 × 8 f32.')
    expect(record(gaps)).toThrow('rows of 8 elements that are 16 apart; a transform needs rows without gaps.')
    for (const one of [compiled, input, wide]) one.destroy()
  })
})

describeOnBackends('the check of a transform', (backend) => {
  const cases: readonly {
    readonly options: Omit<FftPlanOptions, 'limits'>
    readonly most: number
    readonly how: RegExp
  }[] = [
    { options: { shape: [6, 8] }, most: 1000, how: /^all 96 numbers/ },
    { options: { shape: [50, 8], axes: [1] }, most: 80, how: /^10 of 50 rows/ },
    { options: { shape: [16, 18] }, most: 10, how: /^16 outputs .* energy/ },
    { options: { shape: [16, 18], order: 'transposed' }, most: 10, how: /^16 outputs .* energy/ },
    { options: { shape: [8, 6, 10], axes: [0, 2], norm: 'ortho' }, most: 10, how: /^16 outputs .* energy/ },
    { options: { shape: [16, 18], real: true }, most: 10, how: /^16 outputs .* energy/ },
    {
      options: { shape: [16, 18], real: true, axes: [1, 0], order: 'transposed' },
      most: 10,
      how: /^16 outputs .* energy/,
    },
    { options: { shape: [16, 18], real: true, direction: 'inverse' }, most: 10, how: /^16 outputs .*[^y]$/ },
    {
      options: { shape: [16, 9], real: true, axes: [1, 0], direction: 'inverse' },
      most: 10,
      how: /^16 outputs/,
    },
  ]

  it.each(cases)('accepts what is right and nothing else: $options', async ({ options, most, how }) => {
    const group = await backend.group(2)
    const plan = planFft({ ...options, limits: fftLimits(group.devices) })
    const { input: from, output: to } = matricesOf(plan)
    const input = await allocateSharded(group, 'f32', from.rows, from.columns)
    const output = await allocateSharded(group, 'f32', to.rows, to.columns)
    const source = new Float32Array(input.rows * input.columns)
    generatedElements('f32', 5)(0, source)
    await writeSharded(group, input, source)
    const check = async (result: Float32Array<ArrayBuffer>) => {
      await writeSharded(group, output, result)
      return verifyFft(group, { plan, source, input, output }, most)
    }
    const right = Float32Array.from(await referenceTransform(plan, source))
    const passed = await check(right)
    expect(passed).toMatchObject({ checked: true, verified: true })
    expect(passed.verification).toMatch(how)
    expect((await check(right.map((value) => -value))).verified).toBe(false)
    expect((await check(right.map((value) => value * 1.0001))).verified).toBe(false)
    expect((await check(right.map(() => 0))).verified).toBe(false)
    const failed = await check(right.map(() => Number.NaN))
    expect(failed.verified).toBe(false)
    expect(Number.isFinite(failed.maxError)).toBe(true)
    for (const one of [input, output]) one.destroy()
  })
})

describe('fftSources', () => {
  it('has the kernels that GPUs with more memory choose for the same lengths, and those for any length', () => {
    const labels = (sources: readonly { readonly label?: string | undefined }[]) =>
      sources.map(({ label }) => label)
    expect(labels(fftSources(hardware))).toEqual(labels(fftSources()))
    expect(labels(fftSources()).filter((label) => label?.startsWith('fft stage of '))).toHaveLength(8)
  })
})
