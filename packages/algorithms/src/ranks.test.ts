import { type DeviceGroup, openGroup } from '@tandem-gpu/core'
import { referenceBackend, simulateRanks } from '@tandem-gpu/core/testing'
import { describe, expect, it } from 'vitest'
import { histogram } from './histogram/histogram.ts'
import { jacobi } from './jacobi/jacobi.ts'
import { matmul } from './matmul/matmul.ts'
import { reduce } from './reduction/reduce.ts'
import { ringMatmul } from './ring/ring-matmul.ts'
import { scan } from './scan/scan.ts'
import { sort } from './sort/sort.ts'
import { transpose } from './transpose/transpose.ts'

/** Runs an algorithm, and returns the bits of its result. */
type Work = (group: DeviceGroup) => Promise<string>

const bits = (array: Float32Array<ArrayBuffer>) => Buffer.from(array.buffer).toString('hex')

function verified(report: { readonly verified: boolean; readonly verification: string }): void {
  expect(report).toMatchObject({ verified: true })
}

const works: Readonly<Record<string, Work>> = {
  async transpose(group) {
    const output = new Float32Array(29 * 18)
    verified(await transpose(group, { rows: 29, columns: 18, type: 'f32', output, repetitions: 2 }))
    return bits(output)
  },
  async 'transpose by copies, serial'(group) {
    const output = new Float32Array(29 * 18)
    verified(
      await transpose(group, {
        rows: 29,
        columns: 18,
        type: 'f32',
        output,
        transport: 'copy',
        schedule: 'serial',
      }),
    )
    return bits(output)
  },
  async reduce(group) {
    const report = await reduce(group, { elements: 100_000, type: 'f32', repetitions: 2 })
    verified(report)
    return report.valueBits
  },
  async 'reduce with uploads'(group) {
    const report = await reduce(group, { elements: 70_000, type: 'i32', kernel: 'atomic', timeUploads: true })
    verified(report)
    return report.valueBits
  },
  async scan(group) {
    const output = new Float32Array(20_001)
    verified(await scan(group, { elements: 20_001, type: 'f32', output, repetitions: 2 }))
    return bits(output)
  },
  async histogram(group) {
    const report = await histogram(group, { elements: 100_000, type: 'f32', bins: 33, repetitions: 2 })
    verified(report)
    return `${report.edges[0]} ${report.counts.join(' ')}`
  },
  async sort(group) {
    const output = new Float32Array(3001)
    const indices = new Uint32Array(3001)
    const input = Float32Array.from(
      output,
      (_, i) => [Number.NaN, -0, 0, 7, -1e-45][(i * i) % 11] ?? (i * 37) % 100,
    )
    verified(await sort(group, { elements: 3001, type: 'f32', input, output, indices, repetitions: 2 }))
    return bits(output) + Buffer.from(indices.buffer).toString('hex')
  },
  async 'sort of values, descending and serial'(group) {
    const [output, valuesOutput] = [new Int32Array(1000), new Float32Array(1000)]
    const values = Float32Array.from(valuesOutput, (_, i) => i / 3)
    const how = { descending: true, schedule: 'serial', valueType: 'f32' } as const
    verified(await sort(group, { elements: 1000, type: 'i32', output, values, valuesOutput, ...how }))
    return bits(valuesOutput) + [...output].join()
  },
  async 'resident matmul'(group) {
    const output = new Float32Array(21 * 34)
    verified(await matmul(group, { m: 21, n: 34, k: 15, mode: 'resident', output, repetitions: 2 }))
    return bits(output)
  },
  async 'streamed matmul'(group) {
    const output = new Float32Array(21 * 34)
    verified(await matmul(group, { m: 21, n: 34, k: 15, streamWidth: 8, output, repetitions: 2 }))
    return bits(output)
  },
  async 'streamed matmul of host memory, with rows for three devices'(group) {
    const [a, b, c] = [3 * 15, 15 * 34, 3 * 34].map((length) => group.allocateHost('f32', length))
    for (const { array } of [a!, b!]) array.set(Float32Array.from(array, (_, i) => (i % 7) - 3))
    verified(await matmul(group, { m: 3, n: 34, k: 15, streamWidth: 8, a: a!, b: b!, output: c! }))
    const result = bits(c!.array.slice())
    for (const host of [a!, b!, c!]) host.destroy()
    return result
  },
  async 'jacobi in blocks'(group) {
    const output = new Float32Array(20 * 40)
    verified(
      await jacobi(group, {
        rows: 20,
        columns: 40,
        iterations: 7,
        residualEvery: 3,
        decomposition: '2d',
        output,
      }),
    )
    return bits(output)
  },
  async 'jacobi in bands, with a tolerance'(group) {
    const output = new Float32Array(20 * 16)
    const options = { rows: 20, columns: 16, iterations: 60, residualEvery: 4, tolerance: 0.02 } as const
    const report = await jacobi(group, { ...options, decomposition: '1d', output })
    verified(report)
    return `${report.iterations} ${report.residual} ${bits(output)}`
  },
  async ring(group) {
    const output = new Float32Array(21 * 34)
    verified(await ringMatmul(group, { m: 21, n: 34, k: 15, output, repetitions: 2 }))
    return bits(output)
  },
}

describe('over ranks', () => {
  it.each(Object.keys(works))('%s gives the bits of one process on every rank', async (name) => {
    const work = works[name]!
    for (const { ranks, adapters } of [
      { ranks: 1, adapters: 2 },
      { ranks: 2, adapters: 1 },
      { ranks: 3, adapters: [2, 0, 1] },
      { ranks: 4, adapters: 1 },
      { ranks: 5, adapters: [1, 1, 0, 0, 2] },
      { ranks: 6, adapters: 1 },
      { ranks: 7, adapters: [0, 1, 1, 1, 0, 2, 1] },
      { ranks: 8, adapters: 1 },
    ]) {
      const devices = typeof adapters === 'number' ? ranks * adapters : adapters.reduce((a, b) => a + b, 0)
      const alone = await openGroup({ backends: [referenceBackend({ peerAccess: false })], devices })
      const expected = await work(alone)
      await alone.destroy()
      const { backends } = simulateRanks({ ranks, adapters, seed: ranks })
      const found = await Promise.all(
        backends.map(async (backend) => {
          const group = await openGroup({ backends: [backend] })
          const result = await work(group)
          expect(await group.destroy()).toEqual({ leaks: [] })
          return result
        }),
      )
      for (const result of found) expect(result).toBe(expected)
    }
  })
})
