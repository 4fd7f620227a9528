// Every rank runs algorithms over the devices of all ranks, and rank 0 also in one process with as many
// devices. The bits must be the same.
//   mpirun -n 4 node algorithms.ts [INNER BACKEND, default webgpu] [TRANSPORT, default staged]
//     [ALGORITHM ...]
import { createHash } from 'node:crypto'
import {
  allocateSharded,
  compileTranspose,
  type FftOptions,
  fft,
  histogram,
  jacobi,
  matmul,
  readSharded,
  recordTranspose,
  reduce,
  ringMatmul,
  scan,
  sort,
  transpose,
  writeSharded,
} from '@tandem-gpu/algorithms'
import { type DeviceGroup, openGroup } from '@tandem-gpu/core'
import { expect } from 'vitest'
import { type MpiOptions, mpi } from '../../mpi.ts'
import { mpiSession } from '../../session.ts'
import { innerBackend, mpiLibraries } from '../inner-backend.ts'

const [name = 'webgpu', transport = 'staged', ...wanted] = process.argv.slice(2)

/**
 * What the algorithm computes, as text, and whether it verifies. Each of four devices has a part: leaves of a
 * sum are of 16,384 elements, tiles of a scan of 4,096.
 */
const algorithms: Record<string, (group: DeviceGroup) => Promise<{ bits: unknown; verified: boolean }>> = {
  async transpose(group) {
    const [rows, columns] = [61, 83]
    const input = Int32Array.from({ length: rows * columns }, (_, i) => i * 7)
    const output = new Int32Array(rows * columns)
    const { verified } = await transpose(group, { rows, columns, type: 'i32', input, output })
    return { bits: [...output].join(), verified }
  },
  async 'transpose in parts'(group) {
    const [rows, columns] = [61, 83]
    const input = await allocateSharded(group, 'i32', rows, columns)
    const output = await allocateSharded(group, 'i32', columns, rows)
    const source = Int32Array.from({ length: rows * columns }, (_, i) => i * 7)
    await writeSharded(group, input, source)
    const kernel = await compileTranspose(group, { type: 'i32', kernel: 'square' })
    const program = group.record((recorder) => {
      const options = { kernel, input, output, transport: 'copy', messageParts: 3 } as const
      recordTranspose(recorder, group, options)
    })
    await group.queue.run(program, 3)
    const result = new Int32Array(rows * columns)
    await readSharded(group, output, result)
    for (const resource of [program, kernel, input, output]) resource.destroy()
    const verified = result.every((value, i) => value === source[(i % rows) * columns + Math.floor(i / rows)])
    return { bits: [...result].join(), verified }
  },
  async reduce(group) {
    const input = Float32Array.from({ length: 50_003 }, (_, i) => Math.sin(i) * 1000)
    const { value, verified } = await reduce(group, { elements: input.length, type: 'f32', input })
    return { bits: value, verified }
  },
  async scan(group) {
    const elements = 13_001
    const results = []
    let verified = true
    for (const [type, operation, exclusive] of [
      ['f32', 'sum', false],
      ['f32', 'sum', true],
      ['i32', 'max', false],
    ] as const) {
      const output = type === 'f32' ? new Float32Array(elements) : new Int32Array(elements)
      const report = await scan(group, { elements, type, operation, exclusive, output: output as never })
      results.push(bitsOf(output))
      verified &&= report.verified
    }
    return { bits: results, verified }
  },
  async histogram(group) {
    const finite = Float32Array.from({ length: 13_001 }, (_, i) => Math.sin(i))
    const results = []
    let verified = true
    // The range of the elements, and a given one with NaN and elements outside.
    for (const [input, range] of [
      [finite, {}],
      [finite.map((value, i) => (i % 97 === 0 ? Number.NaN : value)), { low: -0.5, high: 0.75 }],
    ] as const) {
      const options = { elements: input.length, type: 'f32', input, bins: 33, ...range } as const
      const { edges, counts, outside, notANumber, ...report } = await histogram(group, options)
      results.push([...edges], [...counts], outside, notANumber)
      verified &&= report.verified
    }
    return { bits: results, verified }
  },
  async fft(group) {
    const results = []
    let verified = true
    for (const [numbers, options] of transforms) {
      const output = new Float32Array(numbers)
      const report = await fft(group, { ...options, output })
      results.push(bitsOf(output))
      verified &&= report.verified
    }
    return { bits: results, verified }
  },
  async sort(group) {
    const elements = 10_007
    // Many equal elements, and those whose order is special.
    const special = [Number.NaN, -0, 0, Number.POSITIVE_INFINITY, -1e-45, Number.NEGATIVE_INFINITY]
    const input = Float32Array.from({ length: elements }, (_, i) => special[(i * i) % 23] ?? (i * 37) % 1009)
    const results = []
    let verified = true
    for (const descending of [false, true]) {
      const [output, indices] = [new Float32Array(elements), new Uint32Array(elements)]
      const report = await sort(group, { elements, type: 'f32', descending, input, output, indices })
      results.push(bitsOf(output), bitsOf(indices))
      verified &&= report.verified
    }
    const [output, valuesOutput] = [new Int32Array(elements), new Float32Array(elements)]
    const moved = { values: input, valueType: 'f32', valuesOutput } as const
    const report = await sort(group, { elements, type: 'i32', output, ...moved })
    results.push(bitsOf(output), bitsOf(valuesOutput))
    return { bits: results, verified: verified && report.verified }
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
  async ring(group) {
    const [m, k, n] = [41, 30, 27]
    const output = new Float32Array(m * n)
    const { verified } = await ringMatmul(group, { m, k, n, output })
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

/** How many f32 the result has, and the transform. */
const transforms: readonly (readonly [number, FftOptions])[] = [
  [252, { shape: [9, 14] }],
  [252, { shape: [9, 14], order: 'transposed' }],
  [420, { shape: [7, 6, 5], direction: 'inverse' }],
  [420, { shape: [7, 6, 5], order: 'transposed' }],
  [480, { shape: [10, 24], axes: [1] }],
  [252, { shape: [7, 6, 5], real: true }],
]

function bitsOf({ buffer }: { readonly buffer: ArrayBuffer }): string {
  return Buffer.from(buffer).toString('base64')
}

const inner = await innerBackend(name)
const options = { virtual: true, transport: transport as MpiOptions['transport'], libraries: mpiLibraries() }
const group = await openGroup({ backends: [mpi(inner, options)], virtual: true })
const session = await mpiSession(undefined)
// One process is enough for the reference: the ranks then report their results, and all must report the
// same.
const alone =
  group.rank === 0
    ? await openGroup({ backends: [inner], devices: group.devices.length, virtual: true })
    : undefined
for (const name of wanted.length > 0 ? wanted : Object.keys(algorithms)) {
  const { bits, verified } = await algorithms[name]!(group)
  expect(verified, name).toBe(true)
  if (alone !== undefined) expect(bits, name).toEqual((await algorithms[name]!(alone)).bits)
  const digest = createHash('sha256').update(JSON.stringify(bits)).digest('hex')
  expect(await session.gather(`${name} ${digest}`), name).toHaveLength(1)
  if (group.rank === 0) console.log(`${name} has the same bits`)
}
await alone?.destroy()
await group.destroy()
