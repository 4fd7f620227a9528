/*
 * Times what looking at the stop word costs the shipped kernels: two groups on one GPU, whose kernels are translated with looks and without, take turns.
 *   node tools/gpu-host/look-costs.ts [PARTS, default products,halves,jacobi] [TYPES, default f32] [SIDE, default 2048]
 * Prints a line a program: the median of each, their ratio, and the ratio of the fastest runs.
 */
import {
  compileMatmul,
  jacobi,
  type MatmulBlocking,
  type MatmulType,
  recordMatmul,
} from '@tandem-gpu/algorithms'
import { type DeviceGroup, OwnedResources, openGroup, type Program } from '@tandem-gpu/core'
import { emitCuda } from '@tandem-gpu/wgsl'
import { compileHalf, type HalfTile } from '../../packages/algorithms/dist/matmul/half/half-kernels.js'
import { allocateHalfPart, recordHalf } from '../../packages/algorithms/dist/matmul/half/record-half.js'
import { cudaBackend } from '../../packages/backend-cuda/dist/cuda.js'

const [parts = 'products,halves,jacobi', types = 'f32', sideText = '2048'] = process.argv.slice(2)
const side = Number(sideText)
const rounds = 15

const open = (stoppable: boolean) =>
  openGroup({
    backends: [
      cudaBackend({ kernelCache: false }, ({ module, bounds, label }) =>
        emitCuda(module, { bounds, label, stoppable }),
      ),
    ],
    devices: 1,
  })
const groups = [await open(false), await open(true)] as const
const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]!

/** Takes turns; `seconds` gives one time of the program in a group. */
async function compare(name: string, seconds: (index: 0 | 1) => Promise<number>): Promise<void> {
  const taken: [number[], number[]] = [[], []]
  for (const index of [0, 1] as const) await seconds(index)
  for (let round = 0; round < rounds; round++)
    for (const index of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const))
      taken[index].push(await seconds(index))
  const [without, looking] = [median(taken[0]), median(taken[1])]
  const fastest = Math.min(...taken[1]) / Math.min(...taken[0])
  console.log(
    `${name.padEnd(44)} ${(without * 1e6).toFixed(1).padStart(10)} µs ${(looking * 1e6).toFixed(1).padStart(10)} µs  ${(looking / without).toFixed(4)}  ${fastest.toFixed(4)}`,
  )
}

/** Programs in both groups, timed over as many repetitions as take some milliseconds. */
async function comparePrograms(
  name: string,
  make: (group: DeviceGroup, owned: OwnedResources) => Promise<Program>,
): Promise<void> {
  const owned = [new OwnedResources(), new OwnedResources()] as const
  try {
    const programs = await Promise.all(groups.map((group, i) => make(group, owned[i as 0 | 1])))
    const once = (await groups[0].queue.run(programs[0]!, 2)).seconds / 2
    const repetitions = Math.max(1, Math.min(200, Math.round(0.004 / once)))
    await compare(name, async (index) => {
      const { seconds } = await groups[index].queue.run(programs[index]!, repetitions)
      return seconds / repetitions
    })
    for (const program of programs) program.destroy()
  } finally {
    for (const one of owned) one.destroy()
  }
}

const tiles: readonly Pick<MatmulBlocking, 'body' | 'tileRows' | 'tileColumns'>[] = [
  { body: 'transposed', tileRows: 128, tileColumns: 128 },
  { body: 'tiled', tileRows: 256, tileColumns: 128 },
  { body: 'tiled', tileRows: 64, tileColumns: 256 },
  { body: 'tiled', tileRows: 128, tileColumns: 128 },
  { body: 'tiled', tileRows: 128, tileColumns: 64 },
  { body: 'tiled', tileRows: 64, tileColumns: 128 },
  { body: 'tiled', tileRows: 64, tileColumns: 64 },
]

if (parts.includes('products'))
  for (const type of types.split(',') as MatmulType[])
    for (const tile of tiles) {
      const kernels = await Promise.all(
        groups.map((group) => compileMatmul(group, type, { ...tile, parts: 1 })),
      )
      for (const size of [side, side - 1, side / 4]) {
        const how = `${tile.tileRows}×${tile.tileColumns} ${tile.body} ${size}`
        await comparePrograms(`${type} ${how}`, async (group, owned) => {
          const device = group.devices[0]!
          const matrix = async () => owned.keep(await device.allocate(type, [size, size]))
          const [a, b, c] = [await matrix(), await matrix(), await matrix()]
          return group.record((r) => recordMatmul(r, kernels[groups.indexOf(group)]!, a, b, c))
        })
      }
      for (const one of kernels) one.destroy()
    }

if (parts.includes('halves'))
  for (const tile of [
    { rows: 128, columns: 256 },
    { rows: 128, columns: 128 },
  ] satisfies HalfTile[])
    for (const size of [side * 2, side, side / 4]) {
      const shape = { m: size, n: size, k: size }
      const blocking = { body: 'tensor', tile, parts: 1, depth: size } as const
      const kernels = await Promise.all(groups.map((group) => compileHalf(group, blocking, 'f32')))
      await comparePrograms(`f16 ${tile.rows}×${tile.columns} ${size}`, async (group, owned) => {
        const part = await allocateHalfPart(
          owned,
          group.devices[0]!,
          { row: 0, rows: size },
          shape,
          blocking,
          'f32',
        )
        return group.record((r) => recordHalf(r, kernels[groups.indexOf(group)]!, part, shape))
      })
      for (const one of kernels) one.destroy()
    }

if (parts.includes('jacobi'))
  for (const size of [side * 4, side, side / 4])
    for (const residualEvery of [1, 1000]) {
      const iterations = size > side ? 100 : 1000
      await compare(
        `jacobi ${size}, residual every ${residualEvery}, ${iterations} iterations`,
        async (index) => {
          const report = await jacobi(groups[index], {
            ...{ rows: size, columns: size, iterations, residualEvery, verify: false },
          })
          return report.seconds
        },
      )
    }

for (const group of groups) await group.destroy()
