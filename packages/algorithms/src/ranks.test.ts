import { type DeviceGroup, type HostBuffer, openGroup } from '@tandem-gpu/core'
import { referenceBackend, simulateRanks } from '@tandem-gpu/core/testing'
import { expect, it } from 'vitest'
import { algorithms } from './testing/algorithms.ts'

type Options = Readonly<Record<string, unknown>>

const f32 = (length: number) => new Float32Array(length)

function host(group: DeviceGroup, length: number): HostBuffer<'f32'> {
  const memory = group.allocateHost('f32', length)
  memory.array.set(Float32Array.from(memory.array, (_, i) => (i % 7) - 3))
  return memory
}

/** Larger shapes than those of the calls, by the name of the algorithm and what is special about them. */
const larger: Readonly<Record<string, (group: DeviceGroup) => Options>> = {
  transpose: () => ({ rows: 29, columns: 18, type: 'f32', output: f32(29 * 18), repetitions: 2 }),
  'transpose by copies, serial': () => ({
    rows: 29,
    columns: 18,
    type: 'f32',
    output: f32(29 * 18),
    transport: 'copy',
    schedule: 'serial',
  }),
  reduce: () => ({ elements: 100_000, type: 'f32', repetitions: 2 }),
  'reduce with uploads': () => ({ elements: 70_000, type: 'i32', kernel: 'atomic', timeUploads: true }),
  scan: () => ({ elements: 20_001, type: 'f32', output: f32(20_001), repetitions: 2 }),
  histogram: () => ({ elements: 100_000, type: 'f32', bins: 33, repetitions: 2 }),
  sort: () => ({
    elements: 3001,
    type: 'f32',
    output: f32(3001),
    indices: new Uint32Array(3001),
    repetitions: 2,
    input: f32(3001).map((_, i) => [Number.NaN, -0, 0, 7, -1e-45][(i * i) % 11] ?? (i * 37) % 100),
  }),
  'sort of values, descending and serial': () => ({
    elements: 1000,
    type: 'i32',
    output: new Int32Array(1000),
    descending: true,
    schedule: 'serial',
    values: f32(1000).map((_, i) => i / 3),
    valueType: 'f32',
    valuesOutput: f32(1000),
  }),
  'matmul, resident': () => ({ m: 21, n: 34, k: 15, mode: 'resident', output: f32(21 * 34), repetitions: 2 }),
  'matmul, streamed': () => ({ m: 21, n: 34, k: 15, streamWidth: 8, output: f32(21 * 34), repetitions: 2 }),
  'matmul, streamed from host memory, with rows for three devices': (group) => ({
    m: 3,
    n: 34,
    k: 15,
    streamWidth: 8,
    a: host(group, 3 * 15),
    b: host(group, 15 * 34),
    output: group.allocateHost('f32', 3 * 34),
  }),
  'jacobi in blocks': () => ({
    rows: 20,
    columns: 40,
    iterations: 7,
    residualEvery: 3,
    decomposition: '2d',
    output: f32(800),
  }),
  'jacobi in bands, with a tolerance': () => ({
    rows: 20,
    columns: 16,
    iterations: 60,
    residualEvery: 4,
    tolerance: 0.02,
    decomposition: '1d',
    output: f32(320),
  }),
  ring: () => ({ m: 21, n: 34, k: 15, output: f32(21 * 34), repetitions: 2 }),
}

const works = [
  ...Object.entries(larger),
  ...Object.entries(algorithms).flatMap(([name, { calls }]) =>
    calls.map((call, index) => [`${name}, call ${index}`, call] as const),
  ),
]

/** The fields of reports that depend on time, on the processes, and on which devices access whose memory. */
const circumstances = new Set(
  'adapter backend deviceNames megaUpdatesPerSecond notes peerAccess prediction processes rate reasons samples seconds transport transports'.split(
    ' ',
  ),
)

const isHost = (value: unknown): value is HostBuffer =>
  typeof value === 'object' && value !== null && 'array' in value && 'destroy' in value

/** Arrays as the bits of their elements, so that 0 and -0 differ. */
function bitsOf(key: string, value: unknown): unknown {
  if (circumstances.has(key)) return undefined
  const array = isHost(value) ? value.array.slice() : value
  return ArrayBuffer.isView(array) ? Buffer.from(array.buffer).toString('hex') : array
}

/** Runs an algorithm, and returns what its report and the arrays among its options contain then. */
async function resultOf(name: string, call: (group: DeviceGroup) => Options, group: DeviceGroup) {
  const { run } = algorithms[/\w+/.exec(name)![0]]!
  const options = call(group)
  const report = await run(group, options as never)
  expect(report).toMatchObject({ verified: true })
  const result = JSON.parse(JSON.stringify([report, options], bitsOf))
  for (const value of Object.values(options)) if (isHost(value)) value.destroy()
  return result
}

it.each(works)('over ranks, %s gives the bits of one process on every rank', async (name, call) => {
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
    const expected = await resultOf(name, call, alone)
    await alone.destroy()
    const { backends } = simulateRanks({ ranks, adapters, seed: ranks })
    const found = await Promise.all(
      backends.map(async (backend) => {
        const group = await openGroup({ backends: [backend] })
        const result = await resultOf(name, call, group)
        expect(await group.destroy()).toEqual({ leaks: [] })
        return result
      }),
    )
    for (const result of found) expect(result).toEqual(expected)
  }
})
