// Times Tandem's scan, histogram and sort on CUDA devices, as JSON lines like those of tools/peers/cub.cu and primitives.py:
//   node tools/gpu-host/primitives.ts [DEVICES, default 1] [LOG2 of the elements, default 28,22]
// What is timed is not verified here (the tests on hardware do that): the input is a block of random elements that is repeated on the devices.
import {
  allocateSharded,
  compileHistogram,
  compileScan,
  compileSort,
  generatedElements,
  measure,
  recordHistogram,
  recordScan,
  recordSort,
  type ShardedMatrix,
  scanTileLength,
} from '@tandem-gpu/algorithms'
import { cuda } from '@tandem-gpu/backend-cuda'
import { type DeviceGroup, openGroup, type Recorder } from '@tandem-gpu/core'

const devices = Number(process.argv[2] ?? 1)
const sizes = (process.argv[3] ?? '28,22').split(',').map((log) => 2 ** Number(log))
const only = process.argv[4]

type Work = (elements: number) => Promise<{ record: (recorder: Recorder) => void; free: () => void }>

const group = await openGroup({ backends: [cuda()], devices })
for (const elements of sizes)
  for (const [name, prepare] of Object.entries(works(group))) {
    if (only !== undefined && !name.includes(only)) continue
    const { record, free } = await prepare(elements)
    const program = group.record(record, { label: name })
    const once = (await measure(group, program, { warmup: 3 })).seconds
    const repetitions = Math.max(1, Math.min(500, Math.ceil(5e-3 / once)))
    const { seconds } = await measure(group, program, { warmup: 2, samples: 9, repetitions })
    console.log(JSON.stringify({ work: name, by: 'Tandem', elements, devices, seconds }))
    program.destroy()
    free()
  }
await group.destroy()

function works(group: DeviceGroup): Record<string, Work> {
  const vectors = ({ slices }: ShardedMatrix) => slices.map(({ rows, view }) => view.reshape(1, rows))
  const histogramOf =
    (type: 'f32' | 'u32', range: object, most?: number): Work =>
    async (elements) => {
      const input = await repeated(type, elements, most)
      const kernels = await compileHistogram(group, { type, ...range })
      const output = await group.devices[0]!.allocate('u32', 258)
      return {
        record: (recorder) => recordHistogram(recorder, { kernels, input: vectors(input), output }),
        free: () => [input, kernels, output].forEach((resource) => void resource.destroy()),
      }
    }
  const sortOf =
    (values: 'none' | 'given' | 'indices'): Work =>
    async (elements) => {
      const kernels = await compileSort(group, { type: 'u32', values })
      const input = await repeated('u32', elements)
      const more = await Promise.all(
        Array.from({ length: values === 'none' ? 1 : 3 }, () =>
          allocateSharded(group, 'u32', elements, 1, { zero: false, alignment: scanTileLength }),
        ),
      )
      const [output, sorted, given] = more.map(vectors)
      return {
        record: (recorder) =>
          recordSort(recorder, group, {
            ...{ kernels, input: vectors(input), output: output! },
            ...(values !== 'none' && { sortedValues: sorted }),
            ...(values === 'given' && { values: given }),
          }),
        free: () => [input, kernels, ...more].forEach((resource) => void resource.destroy()),
      }
    }
  return {
    'sort u32': sortOf('none'),
    'sort u32 pairs': sortOf('given'),
    'sort u32 indices': sortOf('indices'),
    'scan f32': async (elements) => {
      const input = await repeated('f32', elements)
      const shape = { zero: false, alignment: scanTileLength }
      const output = await allocateSharded(group, 'f32', elements, 1, shape)
      const kernels = await compileScan(group, { type: 'f32' })
      return {
        record: (recorder) =>
          recordScan(recorder, group, { kernels, input: vectors(input), output: vectors(output) }),
        free: () => [input, output, kernels].forEach((resource) => void resource.destroy()),
      }
    },
    'histogram f32 even': histogramOf('f32', { bins: 256, low: -1, high: 1 }),
    'histogram f32 edges': histogramOf('f32', { edges: Array.from({ length: 257 }, (_, k) => -1 + k / 128) }),
    'histogram u32 even': histogramOf('u32', { bins: 256, low: 0, high: 256 }, 256),
  }
}

/** Random elements, for u32 below `most` where it is given; the same 2^22 again and again. */
async function repeated<T extends 'f32' | 'u32'>(type: T, elements: number, most?: number) {
  const matrix = await allocateSharded(group, type, elements, 1, { zero: false, alignment: scanTileLength })
  const program = group.record((recorder) => {
    for (const { rows, view } of matrix.slices)
      for (let done = Math.min(rows, 2 ** 22); done < rows; done *= 2) {
        const vector = view.reshape(1, rows)
        const count = Math.min(done, rows - done)
        recorder.copy(vector.slice(0, count), vector.slice(done, count))
      }
  })
  for (const [index, { rows, view }] of matrix.slices.entries()) {
    const block =
      type === 'f32' ? new Float32Array(Math.min(rows, 2 ** 22)) : new Uint32Array(Math.min(rows, 2 ** 22))
    generatedElements(type, index + 1)(0, block as never)
    if (most !== undefined) for (const [i, value] of block.entries()) block[i] = value % most
    await group.queue.write(view.reshape(1, rows).slice(0, block.length), block as never)
  }
  await group.queue.run(program)
  program.destroy()
  return matrix
}
