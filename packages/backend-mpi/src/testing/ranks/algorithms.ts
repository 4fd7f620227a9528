// Every rank: an algorithm over the devices of all ranks, and the same in this process alone with as many devices: the bits are the same.
import { jacobi, matmul, reduce, transpose } from '@tandem-gpu/algorithms'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import { type DeviceGroup, openGroup } from '@tandem-gpu/core'
import { expect } from 'vitest'
import { mpi } from '../../mpi.ts'

const wanted = process.argv.slice(2)

/** What the algorithm computes, as text, and whether it verifies. */
const algorithms: Record<string, (group: DeviceGroup) => Promise<{ bits: unknown; verified: boolean }>> = {
  async transpose(group) {
    const [rows, columns] = [61, 83]
    const input = Int32Array.from({ length: rows * columns }, (_, i) => i * 7)
    const output = new Int32Array(rows * columns)
    const { verified } = await transpose(group, { rows, columns, type: 'i32', input, output })
    return { bits: [...output].join(), verified }
  },
  async reduce(group) {
    const input = Float32Array.from({ length: 100_003 }, (_, i) => Math.sin(i) * 1000)
    const { value, verified } = await reduce(group, { elements: input.length, type: 'f32', input })
    return { bits: value, verified }
  },
  async matmul(group) {
    const [m, k, n] = [65, 70, 33]
    const a = Float32Array.from({ length: m * k }, (_, i) => Math.sin(i))
    const b = Float32Array.from({ length: k * n }, (_, i) => Math.cos(i))
    const output = new Float32Array(m * n)
    const { verified } = await matmul(group, { m, k, n, a, b, output })
    return { bits: [...output].join(), verified }
  },
  async streamed(group) {
    const [m, k, n] = [65, 70, 100]
    const output = new Float32Array(m * n)
    const { verified } = await matmul(group, { m, k, n, mode: 'streamed', streamWidth: 32, output })
    return { bits: [...output].join(), verified }
  },
  async jacobi(group) {
    const [rows, columns] = [65, 49]
    const results = []
    let verified = true
    for (const decomposition of ['1d', '2d'] as const) {
      const output = new Float32Array(rows * columns)
      const report = await jacobi(group, { rows, columns, iterations: 20, decomposition, output })
      results.push([...output].join(), report.residual)
      verified &&= report.verified
    }
    return { bits: results, verified }
  },
}

const group = await openGroup({ backends: [mpi(webgpu())] })
const alone = await openGroup({ backends: [webgpu()], devices: group.devices.length, virtual: true })
for (const name of wanted.length > 0 ? wanted : Object.keys(algorithms)) {
  const together = await algorithms[name]!(group)
  const reference = await algorithms[name]!(alone)
  expect(together.verified, name).toBe(true)
  expect(together.bits, name).toEqual(reference.bits)
  if (group.rank === 0) console.log(`${name} has the same bits`)
}
await alone.destroy()
await group.destroy()
