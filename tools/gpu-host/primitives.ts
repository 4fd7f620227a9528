/*
 * Times Tandem's scan, histogram, sort and Fourier transform on CUDA devices, as JSON lines like those of
 * tools/peers/cub.cu and primitives.py; on a GPU host:
 *   node tools/gpu-host/primitives.ts [DEVICES, default 1] [LOG2 of the elements, default 28,22] \
 *     [ONLY works whose names have this] [PEERS.json] > figures.jsonl
 *   nvcc -O3 -std=c++17 -arch=native -o /tmp/cub tools/peers/cub.cu
 *   /tmp/cub 28 22 >> figures.jsonl
 *   python3 tools/peers/primitives.py 28 22 >> figures.jsonl
 *   node tools/gpu-host/figures.ts TABLE.json --from figures.jsonl --machine NAME --commit ID
 * PEERS.json, by `tools/peers/peers.py --only fft --out PEERS.json`, has cuFFT's times, which come beside the
 * transforms on one GPU. What is timed is not verified here (the tests on hardware do that): the input is a
 * block of random elements that is repeated. Transforms have 2^27 complex numbers, or as many real ones.
 */
import { readFileSync } from 'node:fs'
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
  type ShardedMatrix,
  scanTileLength,
  shardedFromViews,
} from '@tandem-gpu/algorithms'
import { cuda } from '@tandem-gpu/backend-cuda'
import { openGroup, type Recorder } from '@tandem-gpu/core'

const [deviceCount = '1', logs = '28,22', only = '', peersFile] = process.argv.slice(2)
const devices = Number(deviceCount)
const group = await openGroup({ backends: [cuda()], devices })
const print = (work: string, by: string, elements: number, seconds: number) =>
  console.log(JSON.stringify({ work, by, elements, devices, seconds }))

interface Prepared {
  record(recorder: Recorder): void
  readonly owned: readonly { destroy(): void }[]
}
type Work = (elements: number) => Promise<Prepared>

const vectors = <T extends 'f32' | 'u32'>({ slices }: ShardedMatrix<T>) =>
  slices.map(({ rows, view }) => view.reshape(1, rows))
const shape = { zero: false, alignment: scanTileLength }

const histogramOf =
  (type: 'f32' | 'u32', range: object, most?: number): Work =>
  async (elements) => {
    const input = await repeated(type, elements, most)
    const kernels = await compileHistogram(group, { type, ...range })
    const output = await group.devices[0]!.allocate('u32', 258)
    const record = (r: Recorder) => recordHistogram(r, { kernels, input: vectors(input), output })
    return { record, owned: [input, kernels, output] }
  }
const sortOf =
  (values: 'none' | 'given' | 'indices'): Work =>
  async (elements) => {
    const kernels = await compileSort(group, { type: 'u32', values })
    const input = await repeated('u32', elements)
    const count = values === 'none' ? 1 : 3
    const more: ShardedMatrix<'u32'>[] = []
    for (let i = 0; i < count; i++) more.push(await allocateSharded(group, 'u32', elements, 1, shape))
    const [output, sorted, given] = more.map(vectors)
    const record = (r: Recorder) =>
      recordSort(r, group, {
        kernels,
        input: vectors(input),
        output: output!,
        ...(values !== 'none' && { sortedValues: sorted }),
        ...(values === 'given' && { values: given }),
      })
    return { record, owned: [input, kernels, ...more] }
  }
const works: Readonly<Record<string, Work>> = {
  'sort u32': sortOf('none'),
  'sort u32 pairs': sortOf('given'),
  'sort u32 indices': sortOf('indices'),
  'scan f32': async (elements) => {
    const input = await repeated('f32', elements)
    const output = await allocateSharded(group, 'f32', elements, 1, shape)
    const kernels = await compileScan(group, { type: 'f32' })
    const record = (r: Recorder) =>
      recordScan(r, group, { kernels, input: vectors(input), output: vectors(output) })
    return { record, owned: [input, output, kernels] }
  },
  'histogram f32 even': histogramOf('f32', { bins: 256, low: -1, high: 1 }),
  'histogram f32 edges': histogramOf('f32', { edges: Array.from({ length: 257 }, (_, k) => -1 + k / 128) }),
  'histogram u32 even': histogramOf('u32', { bins: 256, low: 0, high: 256 }, 256),
}

for (const elements of logs.split(',').map((log) => 2 ** Number(log)))
  for (const [name, prepare] of Object.entries(works)) {
    if (!name.includes(only)) continue
    const { record, owned } = await prepare(elements)
    print(name, 'Tandem', elements, await timed(record))
    for (const one of owned) one.destroy()
  }
if (devices === 1) await transforms()
await group.destroy()

/** The median of 9 samples of at least 5 ms each. */
async function timed(record: (recorder: Recorder) => void): Promise<number> {
  const program = group.record(record)
  const once = (await measure(group, program, { warmup: 3 })).seconds
  const repetitions = Math.max(1, Math.min(500, Math.ceil(5e-3 / once)))
  const { seconds } = await measure(group, program, { warmup: 2, samples: 9, repetitions })
  program.destroy()
  return seconds
}

/** Random elements, for u32 below `most` if it is given; the same 2^22 elements are repeated. */
async function repeated<T extends 'f32' | 'u32'>(type: T, elements: number, most?: number) {
  const matrix = await allocateSharded(group, type, elements, 1, shape)
  const program = group.record((recorder) => {
    for (const { rows, view } of matrix.slices)
      for (let done = Math.min(rows, 2 ** 22); done < rows; done *= 2) {
        const vector = view.reshape(1, rows)
        const count = Math.min(done, rows - done)
        recorder.copy(vector.slice(0, count), vector.slice(done, count))
      }
  })
  for (const [index, { rows, view }] of matrix.slices.entries()) {
    const length = Math.min(rows, 2 ** 22)
    const block = type === 'f32' ? new Float32Array(length) : new Uint32Array(length)
    generatedElements(type, index + 1)(0, block as never)
    if (most !== undefined) for (const [i, value] of block.entries()) block[i] = value % most
    await group.queue.write(view.reshape(1, rows).slice(0, length), block as never)
  }
  await group.queue.run(program)
  program.destroy()
  return matrix
}

async function transforms(): Promise<void> {
  type Transform = Omit<FftPlanOptions, 'limits'> & { readonly name: string }
  const total = 2 ** 27
  const lines = (length: number): Transform => ({
    name: `fft lines ${length}`,
    axes: [1],
    shape: [Math.floor(total / length), length],
  })
  const cube = (side: number): Transform => ({ name: `fft ${side}³`, shape: [side, side, side] })
  const plane: Transform = { name: 'fft 8192²', shape: [8192, 8192] }
  const all: readonly Transform[] = [
    ...Array.from({ length: 16 }, (_, i) => lines(2 ** (i + 5))),
    ...[243, 1000, 1536, 2187, 2401, 3125, 6561, 127, 509, 1009, 2039, 8191].map(lines),
    ...[plane, cube(512)].flatMap((natural): Transform[] => [
      natural,
      { ...natural, name: `${natural.name} transposed`, order: 'transposed' },
    ]),
    cube(1024),
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
  ].filter(({ name }) => name.includes(only))
  if (all.length === 0) return
  const peers: readonly { work: string; variant: string; shape: object; seconds: number }[] =
    peersFile === undefined ? [] : JSON.parse(readFileSync(peersFile, 'utf8')).results
  const input = vectors(await repeated('f32', 2 ** 31))[0]!
  const output = vectors(await allocateSharded(group, 'f32', 2 ** 31, 1, shape))[0]!
  const matrix = (buffer: typeof input, lengths: readonly number[], real: boolean) => {
    const columns = lengths.slice(1).reduce((product, length) => product * length, real ? 1 : 2)
    const view = buffer.slice(0, lengths[0]! * columns).reshape(lengths[0]!, columns)
    return shardedFromViews(group, 'f32', [view])
  }
  for (const { name, ...options } of all) {
    const plan = planFft({ ...options, limits: fftLimits(group.devices) })
    const fft = await compileFft(group, plan)
    const from = matrix(input, plan.inputShape, plan.realInput)
    const to = matrix(output, plan.outputShape, plan.realOutput)
    const elements = plan.shape.reduce((product, length) => product * length, 1)
    print(name, 'Tandem', elements, await timed((r) => recordFft(r, group, { fft, input: from, output: to })))
    fft.destroy()
    const variant = plan.realInput ? 'cuFFT r2c' : plan.realOutput ? 'cuFFT c2r' : 'cuFFT'
    // Both orders are compared with the peer's natural order; peers do not time columns.
    const peer = peers.find(
      (one) =>
        one.work === 'fft' &&
        one.variant === variant &&
        Object.values(one.shape).join() === plan.shape.join() &&
        !name.includes('columns'),
    )
    if (peer !== undefined) print(name, 'cuFFT', elements, peer.seconds)
  }
}
