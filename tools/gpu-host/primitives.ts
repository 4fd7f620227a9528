/*
 * Times Tandem's scan, histogram, sort and Fourier transform on CUDA devices, as JSON lines like those of
 * tools/peers/cub.cu and primitives.py; on a GPU host:
 *   node tools/gpu-host/primitives.ts [DEVICES, default 1] [LOG2 of the elements, default 28,22] \
 *     [ONLY works whose names have this] [PEERS.json] > figures.jsonl
 *   nvcc -O3 -std=c++17 -arch=native -o /tmp/cub tools/peers/cub.cu
 *   /tmp/cub 28 22 >> figures.jsonl
 *   python3 tools/peers/primitives.py 28 22 >> figures.jsonl
 *   node tools/gpu-host/figures.ts TABLE.json --from figures.jsonl --machine NAME --commit ID
 * To compare several GPUs with one, in one process or with a process for each GPU, in a table of its own:
 *   node tools/gpu-host/primitives.ts 1 30,28,22 --several > several.jsonl
 *   node tools/gpu-host/primitives.ts 4 30,28,22 >> several.jsonl
 *   mpirun -n 4 node tools/gpu-host/primitives.ts 4 30,28,22 --transport ipc >> several.jsonl
 * PEERS.json, written by `tools/peers/peers.py --only fft --out PEERS.json`, has cuFFT's times, to compare
 * with those of the transforms on one GPU. What is timed is not verified here (the tests on hardware do that): the input is a
 * block of random elements that is repeated. Lines have 2^27 complex numbers together, or as many real ones;
 * `--lines LOG2` gives another number. Work that the devices cannot do prints a line with the reason in place
 * of the time.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import {
  allocateSharded,
  compileFft,
  compileHistogram,
  compileScan,
  compileSort,
  type FftPlanOptions,
  fftLimits,
  generatedElements,
  measure,
  planFft,
  recordFft,
  recordHistogram,
  recordScan,
  recordSort,
  scanTileLength,
} from '@tandem-gpu/algorithms'
import { cuda } from '@tandem-gpu/backend-cuda'
import { type MpiOptions, mpi } from '@tandem-gpu/backend-mpi'
import { type BufferView, isGpuError, OwnedResources, openGroup, type Recorder } from '@tandem-gpu/core'
import { matricesOf } from '../../packages/algorithms/dist/fft/record-fft.js'
import { vectorsOf } from '../../packages/algorithms/dist/sharded-matrix.js'

const { values: named, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    transport: { type: 'string' },
    lines: { type: 'string', default: '27' },
    several: { type: 'boolean', default: false },
  },
})
const [deviceCount = '1', logs = '28,22', only = '', peersFile] = positionals
const devices = Number(deviceCount)
const transport = named.transport as MpiOptions['transport']
const group = await openGroup({ backends: [transport ? mpi(cuda(), { transport }) : cuda()], devices })
const peers: readonly { work: string; variant: string; shape: object; seconds: number }[] =
  devices > 1 || peersFile === undefined ? [] : JSON.parse(readFileSync(peersFile, 'utf8')).results
/** Codes of errors that say that the devices cannot do what is asked. */
const impossible: readonly string[] = ['too-large', 'out-of-memory', 'unsupported']
const blocks = new Map<string, Float32Array | Uint32Array>()
const print = (work: string, by: string, elements: number, result: object) => {
  if (group.rank === 0)
    console.log(JSON.stringify({ work, by, elements, devices, ...(transport && { transport }), ...result }))
}

type Transform = Omit<FftPlanOptions, 'limits'> & { readonly name: string }
/** Prepares work on this many elements, and says how it is recorded. */
type Work = (elements: number, owned: OwnedResources) => Promise<(recorder: Recorder) => void>

const vector = { columns: 1, alignment: scanTileLength }

const histogramOf =
  (type: 'f32' | 'u32', range: object, most?: number): Work =>
  async (elements, owned) => {
    const input = owned.keep(await repeated(type, elements, { ...vector, most }))
    const kernels = owned.keep(await compileHistogram(group, { type, ...range }))
    const output = owned.keep(await group.devices[0]!.allocate('u32', 258))
    return (r) => recordHistogram(r, { kernels, input: vectorsOf(input), output })
  }
const sortOf =
  (values: 'none' | 'given' | 'indices'): Work =>
  async (elements, owned) => {
    const kernels = owned.keep(await compileSort(group, { type: 'u32', values }))
    const input = owned.keep(await repeated('u32', elements, vector))
    const more: BufferView<'u32'>[][] = []
    for (let i = 0; i < (values === 'none' ? 1 : 3); i++)
      more.push(vectorsOf(owned.keep(await allocated('u32', elements, vector))))
    const [output, sorted, given] = more
    return (r) =>
      recordSort(r, group, {
        kernels,
        input: vectorsOf(input),
        output: output!,
        ...(values !== 'none' && { sortedValues: sorted }),
        ...(values === 'given' && { values: given }),
      })
  }
const works: Readonly<Record<string, Work>> = {
  'sort u32': sortOf('none'),
  'sort u32 pairs': sortOf('given'),
  'sort u32 indices': sortOf('indices'),
  'scan f32': async (elements, owned) => {
    const input = vectorsOf(owned.keep(await repeated('f32', elements, vector)))
    const output = vectorsOf(owned.keep(await allocated('f32', elements, vector)))
    const kernels = owned.keep(await compileScan(group, { type: 'f32' }))
    return (r) => recordScan(r, group, { kernels, input, output })
  },
  'histogram f32 even': histogramOf('f32', { bins: 256, low: -1, high: 1 }),
  'histogram f32 edges': histogramOf('f32', { edges: Array.from({ length: 257 }, (_, k) => -1 + k / 128) }),
  'histogram u32 even': histogramOf('u32', { bins: 256, low: 0, high: 256 }, 256),
}

for (const elements of logs.split(',').map((log) => 2 ** Number(log)))
  for (const [name, work] of Object.entries(works))
    if (name.includes(only)) await report(name, elements, work)
for (const transform of transforms()) if (transform.name.includes(only)) await reportTransform(transform)
await group.destroy()

/** Prints the time of one work, or why the devices cannot do it. */
async function report(name: string, elements: number, work: Work): Promise<void> {
  const owned = new OwnedResources()
  try {
    print(name, 'Tandem', elements, { seconds: await timed(await work(elements, owned)) })
  } catch (error) {
    if (!isGpuError(error) || !impossible.includes(error.code)) throw error
    print(name, 'Tandem', elements, { impossible: error.code, message: error.message })
  } finally {
    owned.destroy()
  }
}

/** The median of 9 samples of at least 5 ms each. */
async function timed(record: (recorder: Recorder) => void): Promise<number> {
  const program = group.record(record)
  try {
    const once = (await measure(group, program, { warmup: 3 })).seconds
    const repetitions = Math.max(1, Math.min(500, Math.ceil(5e-3 / once)))
    return (await measure(group, program, { warmup: 2, samples: 9, repetitions })).seconds
  } finally {
    program.destroy()
  }
}

interface Rows {
  readonly columns: number
  readonly alignment?: number
  /** Elements of type u32 are below this. */
  readonly most?: number | undefined
}

function allocated<T extends 'f32' | 'u32'>(type: T, rows: number, { columns, alignment = 1 }: Rows) {
  return allocateSharded(group, type, rows, columns, { zero: false, alignment })
}

/** Random elements: the same 2^22 are repeated. */
async function repeated<T extends 'f32' | 'u32'>(type: T, rows: number, options: Rows) {
  const matrix = await allocated(type, rows, options)
  const vectors = matrix.slices.map(({ view }) => view.reshape(1, view.length))
  const block = blockOf(type, options.most)
  for (const view of vectors) {
    const length = Math.min(view.length, block.length)
    if (view.buffer.device.local)
      await group.queue.write(view.slice(0, length), block.subarray(0, length) as never)
  }
  const program = group.record((recorder) => {
    for (const view of vectors)
      for (let done = Math.min(view.length, block.length); done < view.length; done *= 2) {
        const count = Math.min(done, view.length - done)
        if (recorder.touches(view.buffer.device.ordinal))
          recorder.copy(view.slice(0, count), view.slice(done, count))
      }
  })
  await group.queue.run(program)
  program.destroy()
  return matrix
}

function blockOf(type: 'f32' | 'u32', most: number | undefined): Float32Array | Uint32Array {
  const key = `${type} ${most}`
  let block = blocks.get(key)
  if (block === undefined) {
    block = type === 'f32' ? new Float32Array(2 ** 22) : new Uint32Array(2 ** 22)
    generatedElements(type, 1)(0, block as never)
    if (most !== undefined) for (const [i, value] of block.entries()) block[i] = value % most
    blocks.set(key, block)
  }
  return block
}

/** On several devices, or with `--several`, only those of the table of several GPUs. */
function transforms(): readonly Transform[] {
  const total = 2 ** Number(named.lines)
  const lines = (length: number): Transform => ({
    name: `fft lines ${length}`,
    axes: [1],
    shape: [Math.floor(total / length), length],
  })
  const cube = (side: number): Transform => ({ name: `fft ${side}³`, shape: [side, side, side] })
  const plane = (side: number): Transform => ({ name: `fft ${side}²`, shape: [side, side] })
  const several = [plane(8192), plane(16_384), cube(512), cube(1024)].flatMap((natural): Transform[] => [
    natural,
    { ...natural, name: `${natural.name} transposed`, order: 'transposed' },
  ])
  if (devices > 1 || named.several) return [lines(512), lines(4096), ...several]
  return [
    ...Array.from({ length: 16 }, (_, i) => lines(2 ** (i + 5))),
    ...[243, 1000, 1536, 2187, 2401, 3125, 6561, 127, 509, 1009, 2039, 8191].map(lines),
    ...several,
    ...[64, 128, 256, 512, 1024].map((length) => ({
      name: `fft columns ${length}`,
      shape: [length, total / length],
      axes: [0],
    })),
    ...[512, 1024, 4096, 65_536].flatMap((length) =>
      (['forward', 'inverse'] as const).map((direction) => ({
        ...lines(length),
        name: `fft ${direction === 'forward' ? 'r2c' : 'c2r'} ${length}`,
        real: true,
        direction,
      })),
    ),
  ]
}

async function reportTransform({ name, ...options }: Transform): Promise<void> {
  const plan = planFft({ ...options, limits: fftLimits(group.devices) })
  const elements = plan.shape.reduce((product, length) => product * length, 1)
  await report(name, elements, async (_, owned) => {
    const fft = owned.keep(await compileFft(group, plan))
    const { input, output } = matricesOf(plan)
    const from = owned.keep(await repeated('f32', input.rows, input))
    const to = owned.keep(await allocated('f32', output.rows, output))
    return (r) => recordFft(r, group, { fft, input: from, output: to })
  })
  const variant = plan.realInput ? 'cuFFT r2c' : plan.realOutput ? 'cuFFT c2r' : 'cuFFT'
  // Both orders are compared with the peer's natural order; peers do not time columns.
  const peer = peers.find(
    (one) =>
      one.work === 'fft' &&
      one.variant === variant &&
      Object.values(one.shape).join() === plan.shape.join() &&
      !name.includes('columns'),
  )
  if (peer !== undefined) print(name, 'cuFFT', elements, { seconds: peer.seconds })
}
