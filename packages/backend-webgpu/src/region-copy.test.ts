import type { ByteRegion, Runtime } from '@tandem-gpu/core/backend'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { webgpu } from './index.ts'
import { type BufferExtent, type LoweringOptions, lowerCopy, lowerFill } from './region-lowering.ts'
import { allocateWith, contents, PlanBuilder, patternBytes, region } from './testing/hand-built.ts'

let runtime: Runtime
beforeAll(async () => {
  const backend = webgpu()
  const { adapters } = await backend.adapters()
  runtime = await backend.open([adapters[0]!])
})
afterAll(() => runtime.dispose())

/** Rows of units of 1, 2 or 4 bytes, with gaps; units of 4 bytes test the word path. */
const layout = fc
  .record({
    unit: fc.constantFrom(1, 2, 4),
    rows: fc.integer({ min: 1, max: 40 }),
    columns: fc.integer({ min: 1, max: 40 }),
    sourceGap: fc.integer({ min: 0, max: 5 }),
    targetGap: fc.integer({ min: 0, max: 5 }),
    sourceOffset: fc.integer({ min: 0, max: 200 }),
    targetOffset: fc.integer({ min: 0, max: 200 }),
    slack: fc.integer({ min: 0, max: 3 }),
  })
  .map(({ unit, rows, columns, sourceGap, targetGap, sourceOffset, targetOffset, slack }) => {
    const shape = (offset: number, gap: number) => ({
      byteOffset: offset * unit,
      rowByteLength: columns * unit,
      rows,
      rowByteStride: (columns + gap) * unit,
    })
    return {
      unit: unit as 1 | 2 | 4,
      source: shape(sourceOffset, sourceGap),
      target: shape(targetOffset, targetGap),
      slack: slack * unit,
    }
  })

type Shape = Omit<ByteRegion, 'buffer'>

function byteLengthFor(shape: Shape, slack: number): number {
  return shape.byteOffset + (shape.rows - 1) * shape.rowByteStride + shape.rowByteLength + slack
}

function copied(
  source: Uint8Array,
  from: Shape,
  target: Uint8Array<ArrayBuffer>,
  to: Shape,
): Uint8Array<ArrayBuffer> {
  const result = target.slice()
  for (let row = 0; row < from.rows; row++) {
    const start = from.byteOffset + row * from.rowByteStride
    result.set(source.subarray(start, start + from.rowByteLength), to.byteOffset + row * to.rowByteStride)
  }
  return result
}

test('copies move exactly the bytes of their regions', async () => {
  await fc.assert(
    fc.asyncProperty(layout, async ({ source, target, slack }) => {
      const sourceBytes = patternBytes(byteLengthFor(source, slack), 1)
      const targetBytes = patternBytes(byteLengthFor(target, slack), 2)
      const from = await allocateWith(runtime, 0, sourceBytes)
      const to = await allocateWith(runtime, 0, targetBytes)
      const plan = new PlanBuilder()
      plan.add({
        kind: 'copy',
        device: 0,
        source: { ...source, buffer: plan.device(from) },
        target: { ...target, buffer: plan.device(to) },
      })
      const executable = await runtime.instantiate(plan.build())
      await runtime.run(executable, { times: 1 })
      expect(await contents(runtime, to)).toEqual(copied(sourceBytes, source, targetBytes, target))
      runtime.release(executable)
      runtime.free(from)
      runtime.free(to)
    }),
    { numRuns: 60 },
  )
})

test('copies within one buffer act as if through a second one', async () => {
  await fc.assert(
    fc.asyncProperty(layout, async ({ source, target, slack }) => {
      const bytes = patternBytes(Math.max(byteLengthFor(source, slack), byteLengthFor(target, slack)))
      const memory = await allocateWith(runtime, 0, bytes)
      const plan = new PlanBuilder()
      const buffer = plan.device(memory)
      plan.add({ kind: 'copy', device: 0, source: { ...source, buffer }, target: { ...target, buffer } })
      const executable = await runtime.instantiate(plan.build())
      await runtime.run(executable, { times: 1 })
      expect(await contents(runtime, memory)).toEqual(copied(bytes, source, bytes, target))
      runtime.release(executable)
      runtime.free(memory)
    }),
    { numRuns: 30 },
  )
})

test('fills repeat their pattern over exactly their region', async () => {
  const pattern = fc.constantFrom(0, 0x3c017f80, 0x00000001, 0xffffffff)
  await fc.assert(
    fc.asyncProperty(layout, pattern, async ({ unit, target, slack }, word) => {
      const value = unit === 4 ? word : word % 2 ** (8 * unit)
      const bytes = patternBytes(byteLengthFor(target, slack))
      const memory = await allocateWith(runtime, 0, bytes)
      const plan = new PlanBuilder()
      const buffer = plan.device(memory)
      plan.add({
        kind: 'fill',
        device: 0,
        target: { ...target, buffer },
        pattern: value,
        patternByteLength: unit,
      })
      const executable = await runtime.instantiate(plan.build())
      await runtime.run(executable, { times: 1 })
      const Units = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[unit]
      const units = new Uint8Array(new Units(target.rowByteLength / unit).fill(value).buffer)
      const dense = { ...target, byteOffset: 0, rowByteStride: 0 }
      expect(await contents(runtime, memory)).toEqual(copied(units, dense, bytes, target))
      runtime.release(executable)
      runtime.free(memory)
    }),
    { numRuns: 60 },
  )
})

test('a fill of words keeps all 32 bits', async () => {
  const memory = await runtime.allocate(0, 4 * 100, { label: 'x', zero: true })
  const plan = new PlanBuilder()
  const buffer = plan.device(memory)
  plan.add({
    kind: 'fill',
    device: 0,
    target: region(buffer, 4, 8, 20, 16),
    pattern: 0xbf800001,
    patternByteLength: 4,
  })
  const executable = await runtime.instantiate(plan.build())
  await runtime.run(executable, { times: 1 })
  const expected = Array.from({ length: 100 }, (_, i) =>
    i >= 1 && i < 79 && (i - 1) % 4 < 2 ? 0xbf800001 : 0,
  )
  expect([...new Uint32Array((await contents(runtime, memory)).buffer)]).toEqual(expected)
  runtime.release(executable)
  runtime.free(memory)
})

test('uploads, downloads, writes and reads of strided regions touch nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(layout, async ({ source, target, slack }) => {
      const hostByteLength = byteLengthFor(source, slack)
      const bytes = patternBytes(byteLengthFor(target, slack), 2)
      const memory = await allocateWith(runtime, 0, bytes)
      const [input, output] = [runtime.allocateHost(hostByteLength), runtime.allocateHost(hostByteLength)]
      const [inputBytes, outputBytes] = [
        new Uint8Array(input.arrayBuffer),
        new Uint8Array(output.arrayBuffer),
      ]
      inputBytes.set(patternBytes(hostByteLength, 3))
      outputBytes.set(patternBytes(hostByteLength, 4))
      const plan = new PlanBuilder()
      const buffer = plan.device(memory)
      plan
        .add({
          kind: 'upload',
          device: 0,
          source: { ...source, buffer: plan.host(input) },
          target: { ...target, buffer },
        })
        .add({
          kind: 'download',
          device: 0,
          source: { ...target, buffer },
          target: { ...source, buffer: plan.host(output) },
        })
      const executable = await runtime.instantiate(plan.build())
      const before = outputBytes.slice()
      await runtime.run(executable, { times: 2 })
      const expected = copied(inputBytes, source, bytes, target)
      expect(await contents(runtime, memory)).toEqual(expected)
      expect(outputBytes).toEqual(copied(inputBytes, source, before, source))

      const dense = { ...target, byteOffset: 0, rowByteStride: target.rowByteLength }
      const rows = patternBytes(target.rows * target.rowByteLength, 5)
      await runtime.write({ ...target, allocation: memory }, rows)
      expect(await contents(runtime, memory)).toEqual(copied(rows, dense, expected, target))
      const read = new Uint8Array(rows.byteLength)
      await runtime.read({ ...target, allocation: memory }, read)
      expect(read).toEqual(rows)
      runtime.release(executable)
      runtime.freeHost(input)
      runtime.freeHost(output)
      runtime.free(memory)
    }),
    { numRuns: 40 },
  )
})

const whole = (byteLength: number, rows = 1): BufferExtent => ({
  byteOffset: 0,
  rowByteLength: byteLength,
  rows,
  rowByteStride: byteLength * 2,
  bufferByteLength: byteLength * 2 * rows,
})

const gpu: LoweringOptions = { maxBindingByteLength: 1 << 30, software: false }
const cpu: LoweringOptions = { maxBindingByteLength: 1 << 30, software: true }

test('what WebGPU can copy or clear by itself uses no kernel', () => {
  expect(lowerCopy(whole(4096), whole(4096), gpu).map(({ kind }) => kind)).toEqual(['copy'])
  expect(lowerCopy(whole(8, 16), whole(8, 16), gpu).every(({ kind }) => kind === 'copy')).toBe(true)
  expect(lowerCopy(whole(8, 17), whole(8, 17), gpu).map(({ kind }) => kind)).toEqual(['copy-kernel'])
  expect(lowerFill(whole(4096), 0, 4, gpu).map(({ kind }) => kind)).toEqual(['clear'])
  // A copy of an odd number of halves at the end of its buffer includes the padding.
  const odd = { ...whole(6), bufferByteLength: 6 }
  expect(lowerCopy(odd, odd, gpu)).toEqual([
    { kind: 'copy', sourceOffset: 0, targetOffset: 0, byteLength: 8 },
  ])
})

test('a GPU copies long rows by a kernel, including partial words at the ends', () => {
  const extent = (byteOffset: number, rowByteLength: number): BufferExtent => ({
    byteOffset,
    rowByteLength,
    rows: 1,
    rowByteStride: rowByteLength,
    bufferByteLength: 2 ** 22,
  })
  const long = (byteLength: number, options: LoweringOptions, shift = 0) =>
    lowerCopy(extent(256 + shift, byteLength), extent(shift, byteLength), options).map(({ kind }) => kind)
  expect(long(2 ** 20, gpu)).toEqual(['copy-kernel'])
  expect(long(2 ** 20 - 4, gpu)).toEqual(['copy'])
  expect(long(2 ** 21, cpu)).toEqual(['copy'])
  expect(lowerCopy(whole(2 ** 17, 8), whole(2 ** 17, 8), gpu).map(({ kind }) => kind)).toEqual([
    'copy-kernel',
  ])
  const [head, middle, tail] = lowerCopy(extent(258, 2 ** 20 + 4), extent(2, 2 ** 20 + 4), gpu)
  expect([head, middle, tail]).toMatchObject([
    { kind: 'copy-kernel', unitByteLength: 2, targetColumns: 1 },
    { kind: 'copy-kernel', unitByteLength: 4, targetBase: 1, targetColumns: 2 ** 18, sourceBase: 1 },
    { kind: 'copy-kernel', unitByteLength: 2, targetColumns: 1 },
  ])
})

test('software adapters copy long rows by commands and short ones by a kernel', () => {
  expect(lowerCopy(whole(256, 1000), whole(256, 1000), cpu)).toHaveLength(1000)
  expect(lowerFill(whole(256, 1000), 0, 4, cpu)).toHaveLength(1000)
  expect(lowerCopy(whole(8, 1000), whole(8, 1000), cpu).map(({ kind }) => kind)).toEqual(['copy-kernel'])
})

test('kernels bind no more than the device allows', () => {
  const small = { ...gpu, maxBindingByteLength: 4096 }
  const steps = [
    ...lowerCopy(whole(1000, 100), whole(1000, 100), small),
    ...lowerCopy({ ...whole(100_000), byteOffset: 2 }, { ...whole(100_000), byteOffset: 260 }, small),
    ...lowerFill(whole(100_000), 7, 4, small),
  ]
  expect(steps.length).toBeGreaterThan(100)
  for (const step of steps) {
    if (step.kind !== 'copy-kernel' && step.kind !== 'fill-kernel')
      throw new Error(`not a kernel: ${step.kind}`)
    expect(step.target.byteOffset % 256).toBe(0)
    expect(Math.max(step.target.byteLength, step.source?.byteLength ?? 0)).toBeLessThanOrEqual(4096)
  }
})
