import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { generatedElements, readElements, requireElements } from './element-source.ts'
import { planFft } from './fft/plan-fft.ts'
import { referenceTransform } from './fft/reference-fft.ts'
import { referenceJacobi } from './jacobi/reference-jacobi.ts'

describe('generatedElements', () => {
  it('gives an index the same element in every range', async () => {
    const whole = await readElements(generatedElements('u32', 7), 'u32', 0, 1000)
    const part = await readElements(generatedElements('u32', 7), 'u32', 300, 50)
    expect(part).toEqual(whole.slice(300, 350))
    expect(new Set(whole).size).toBeGreaterThan(990)
  })

  it('depends on the seed, even beyond 2^32 elements', async () => {
    const at = (seed: number, offset: number) =>
      readElements(generatedElements('i32', seed), 'i32', offset, 4)
    expect(await at(1, 0)).not.toEqual(await at(2, 0))
    expect(await at(1, 0)).not.toEqual(await at(1, 2 ** 32))
  })

  it('distributes f32 uniformly over [-1, 1)', async () => {
    const data = await readElements(generatedElements('f32'), 'f32', 0, 100_000)
    expect(Math.min(...data.subarray(0, 10_000))).toBeGreaterThanOrEqual(-1)
    expect(Math.max(...data.subarray(0, 10_000))).toBeLessThan(1)
    const mean = data.reduce((sum, value) => sum + value, 0) / data.length
    // Six standard errors of the mean of a uniform variable.
    expect(Math.abs(mean)).toBeLessThan((6 * 2) / Math.sqrt(12 * data.length))
  })
})

it.each([
  [
    'reference transform',
    () =>
      referenceTransform(
        planFft({
          shape: [4],
          limits: { lines: false, workgroupMemoryByteLength: 0, workgroupInvocations: 1 },
        }),
        new Float32Array(8),
      ),
  ],
  ['reference iteration', () => referenceJacobi({ rows: 3, columns: 3 }, new Float32Array(9), 1)],
])('the event loop turns while the CPU computes a %s', async (_, repeat) => {
  // The first look at the clock finds that a turn is due; the second, after the turn, is right again.
  const now = performance.now.bind(performance)
  let late = false
  vi.spyOn(performance, 'now').mockImplementation(() => {
    late = !late
    return now() + (late ? 1000 : 0)
  })
  onTestFinished(() => void vi.restoreAllMocks())
  let turned = false
  setTimeout(() => {
    turned = true
  }, 0)
  await repeat()
  expect(turned).toBe(true)
})

it.each([
  ['another length', new Float32Array(3), 'The input has 3 elements, but the shape needs 4.'],
  [
    'another type',
    new Int32Array(4),
    'The input is Int32Array; elements of f32 need a Float32Array or a function.',
  ],
  [
    'an array that is not typed',
    [1, 2, 3, 4],
    'The input is an array; elements of f32 need a Float32Array or a function.',
  ],
  [
    'host memory where none is taken',
    { type: 'f32', length: 4, array: new Float32Array(4) },
    'The input is host memory of f32; elements of f32 need a Float32Array or a function.',
  ],
])('requireElements refuses %s', (_, data, message) => {
  expect(() => requireElements('The input', data, 'f32', 4)).toThrow(message)
})

it('requireElements takes a function, the array of the type, and host memory of it where that will do', () => {
  requireElements('A', () => undefined, 'f32', 4)
  requireElements('A', new Uint16Array(4), 'f16', 4)
  const host = { type: 'i32', length: 4, array: new Int32Array(4) }
  requireElements('A', host, 'i32', 4, true)
  expect(() => requireElements('A', host, 'f32', 4, true)).toThrow(
    'A is host memory of i32; elements of f32 need a Float32Array, host memory of f32 or a function.',
  )
  expect(() => requireElements('A', { ...host, destroyed: true }, 'i32', 4, true)).toThrow(
    'A is host memory of i32 that is destroyed; elements of i32 need an Int32Array, host memory of i32 or a function.',
  )
})

it('timers get their turn while elements are read one after another', async () => {
  let rang = false
  setTimeout(() => {
    rang = true
  }, 0)
  const source = () => {
    // The time that a reference on the CPU takes for a piece.
    const end = performance.now() + 60
    while (performance.now() < end);
  }
  for (let read = 0; read < 3; read++) await readElements(source, 'f32', 0, 1)
  expect(rang).toBe(true)
})
