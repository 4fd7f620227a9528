import { describe, expect, it } from 'vitest'
import { compareBuffers, fillBuffer, type KernelBuffer, parseKernelTest } from './index.ts'
import { readBuffer } from './kernel-buffers.ts'
import { randomKernel } from './random-kernel.ts'

const buffer = (
  scalar: KernelBuffer['scalar'],
  count: number,
  fill: KernelBuffer['fill'],
  args: number[] = [],
): KernelBuffer => ({
  name: 'data',
  scalar,
  count,
  fill,
  args,
})
const values = (b: KernelBuffer) => readBuffer(b, fillBuffer(b))

describe('the header of a test kernel', () => {
  it('contains workgroups, buffers, tolerance and constants', () => {
    const test = parseKernelTest(`// A note.
// run: workgroups=2,1,1 tolerance=ulp:4,absolute:0.5 constants=N:3,M:0.5 entry=main
// buffer a: f32[8] random(-1, 1)
// buffer out: u32[4]
fn main() {}`)
    expect(test).toEqual({
      workgroups: [2, 1, 1],
      entryPoint: 'main',
      constants: { N: 3, M: 0.5 },
      tolerance: { ulp: 4, absolute: 0.5, relative: 0 },
      buffers: [
        { name: 'a', scalar: 'f32', count: 8, fill: 'random', args: [-1, 1] },
        { name: 'out', scalar: 'u32', count: 4, fill: 'zero', args: [] },
      ],
    })
  })

  it('must be well formed', () => {
    expect(() => parseKernelTest('fn main() {}')).toThrow('needs workgroups')
    expect(() => parseKernelTest('// run: workgroups=1,1')).toThrow('needs workgroups')
    expect(() => parseKernelTest('// run: workgroups=1,1,x')).toThrow("'x' is not a number")
    expect(() => parseKernelTest('// buffer a: f64[8]')).toThrow('malformed')
    expect(() => parseKernelTest('// buffer a: f32[8] noise')).toThrow("unknown fill 'noise'")
    expect(() => parseKernelTest('// run: workgroups=1,1,1 tolerance=close')).toThrow('unknown tolerance')
  })
})

describe('filling buffers', () => {
  it('is the same each time, and differs by name', () => {
    const a = buffer('u32', 16, 'random')
    expect(fillBuffer(a)).toEqual(fillBuffer(a))
    expect(fillBuffer({ ...a, name: 'other' })).not.toEqual(fillBuffer(a))
  })

  it('follows ranges, steps and lists', () => {
    for (const v of values(buffer('f32', 100, 'random', [2, 3]))) expect(v >= 2 && v <= 3).toBe(true)
    for (const v of values(buffer('i32', 100, 'random', [-2, 2]))) expect(Math.abs(v)).toBeLessThanOrEqual(2)
    expect(values(buffer('u32', 3, 'iota', [5, 2]))).toEqual([5, 7, 9])
    expect(values(buffer('f16', 3, 'values', [0.1, -2]))).toEqual([0.0999755859375, -2, 0.0999755859375])
    expect(fillBuffer(buffer('f16', 3, 'zero')).byteLength).toBe(8)
  })
})

describe('comparing buffers', () => {
  const bytes = (...x: number[]) => new Uint8Array(new Float32Array(x).buffer)
  const two = buffer('f32', 2, 'zero')
  const exact = { ulp: 0, absolute: 0, relative: 0 }

  it('names the first difference', () => {
    expect(compareBuffers(two, bytes(1, 2), bytes(1, 2), exact)).toBeUndefined()
    expect(compareBuffers(two, bytes(1, 3), bytes(1, 2), exact)).toBe('data[1] is 3, not 2; 1 of 2 differ')
    expect(compareBuffers(two, bytes(0, Number.NaN), bytes(-0, Number.NaN), exact)).toBeUndefined()
  })

  it('accepts values within one of the tolerances', () => {
    const next = Math.fround(1 + 2 ** -23)
    expect(compareBuffers(two, bytes(1, next), bytes(1, 1), exact)).toBeDefined()
    expect(compareBuffers(two, bytes(1, next), bytes(1, 1), { ...exact, ulp: 1 })).toBeUndefined()
    expect(compareBuffers(two, bytes(1, 1.25), bytes(1, 1), { ...exact, absolute: 0.25 })).toBeUndefined()
    expect(compareBuffers(two, bytes(1, 101), bytes(1, 100), { ...exact, relative: 0.01 })).toBeUndefined()
  })
})

it('random kernels are the same for the same seed and differ otherwise', () => {
  expect(randomKernel(5)).toBe(randomKernel(5))
  expect(randomKernel(5)).not.toBe(randomKernel(6))
  expect(parseKernelTest(randomKernel(5)).buffers).toHaveLength(8)
})
