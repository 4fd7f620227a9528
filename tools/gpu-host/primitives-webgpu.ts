// Times scans, histograms, sorts and transforms through WebGPU and through CUDA on one GPU, as JSON lines of the kind of primitives.ts: both groups
// are open in one process, take turns, and are timed by the same clock, the host's, over runs of about 40 ms.
//   node tools/gpu-host/primitives-webgpu.ts [LOG2 of the elements, default 26] [part of the names of the works]
// Needs npm `webgpu` and a Vulkan driver (VK_DRIVER_FILES where the loader finds none). Each result is compared with that of CUDA.
import {
  allocateSharded,
  compileFft,
  compileHistogram,
  compileScan,
  compileSort,
  fftLimits,
  generatedElements,
  planFft,
  recordFft,
  recordHistogram,
  recordScan,
  recordSort,
  scanTileLength,
  shardedFromViews,
} from '@tandem-gpu/algorithms'
import { cuda } from '@tandem-gpu/backend-cuda'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import { type BufferView, type DeviceGroup, openGroup, type Program } from '@tandem-gpu/core'

const elements = 2 ** Number(process.argv[2] ?? 26)
const only = process.argv[3] ?? ''
const turns = 5

interface Prepared {
  readonly program: Program
  /** What is compared: the first numbers of the result. */
  readonly result: BufferView<'f32' | 'u32'>
  readonly free: () => void
}
type Work = (group: DeviceGroup) => Promise<Prepared>

/** Random elements: a block of 2^22 again and again. */
async function filled<T extends 'f32' | 'u32'>(group: DeviceGroup, type: T, count: number) {
  const matrix = await allocateSharded(group, type, count, 1, { zero: false, alignment: scanTileLength })
  const vector = matrix.slices[0]!.view.reshape(1, count)
  const piece = Math.min(count, 2 ** 22)
  const block = type === 'f32' ? new Float32Array(piece) : new Uint32Array(piece)
  generatedElements(type, 1)(0, block as never)
  await group.queue.write(vector.slice(0, block.length), block as never)
  const program = group.record((recorder) => {
    for (let done = block.length; done < count; done += Math.min(done, count - done)) {
      const length = Math.min(done, count - done)
      recorder.copy(vector.slice(0, length), vector.slice(done, length))
    }
  })
  await group.queue.run(program)
  program.destroy()
  return { matrix, vector }
}

async function vectors<T extends 'f32' | 'u32'>(group: DeviceGroup, type: T, count: number) {
  const [input, output] = [await filled(group, type, count), await filled(group, type, count)]
  return { input, output, both: [input.matrix, output.matrix] }
}

function sorted(pairs: boolean): Work {
  return async (group) => {
    const { input, output, both } = await vectors(group, 'u32', elements)
    const more = pairs ? await vectors(group, 'u32', elements) : undefined
    const kernels = await compileSort(group, { type: 'u32', values: pairs ? 'given' : 'none' })
    const program = group.record((recorder) =>
      recordSort(recorder, group, {
        ...{ kernels, input: [input.vector], output: [output.vector] },
        ...(more && { values: [more.input.vector], sortedValues: [more.output.vector] }),
      }),
    )
    const owned = [program, kernels, ...both, ...(more?.both ?? [])]
    return { program, result: output.vector, free: () => owned.forEach((one) => void one.destroy()) }
  }
}

function transform(shape: readonly number[], axes?: readonly number[]): Work {
  return async (group) => {
    const { input, output, both } = await vectors(group, 'f32', 2 * shape.reduce((all, one) => all * one, 1))
    const fft = await compileFft(group, planFft({ shape, axes, limits: fftLimits(group.devices) }))
    const matrix = ({ vector }: typeof input) =>
      shardedFromViews(group, 'f32', [vector.reshape(shape[0]!, vector.length / shape[0]!)])
    const program = group.record((recorder) =>
      recordFft(recorder, group, { fft, input: matrix(input), output: matrix(output) }),
    )
    const owned = [program, fft, ...both]
    return { program, result: output.vector, free: () => owned.forEach((one) => void one.destroy()) }
  }
}

const works: Readonly<Record<string, Work>> = {
  'scan f32': async (group) => {
    const { input, output, both } = await vectors(group, 'f32', elements)
    const kernels = await compileScan(group, { type: 'f32' })
    const vector = { kernels, input: [input.vector], output: [output.vector] }
    const program = group.record((recorder) => recordScan(recorder, group, vector))
    const owned = [program, kernels, ...both]
    return { program, result: output.vector, free: () => owned.forEach((one) => void one.destroy()) }
  },
  'histogram f32 even': async (group) => {
    const { matrix, vector } = await filled(group, 'f32', elements)
    const kernels = await compileHistogram(group, { type: 'f32', bins: 256, low: -1, high: 1 })
    const output = await group.devices[0]!.allocate('u32', 258)
    const program = group.record((recorder) =>
      recordHistogram(recorder, { kernels, input: [vector], output }),
    )
    const owned = [program, kernels, matrix, output]
    return { program, result: output.slice(0, 258), free: () => owned.forEach((one) => void one.destroy()) }
  },
  'sort u32': sorted(false),
  'sort u32 pairs': sorted(true),
  ...Object.fromEntries(
    [512, 1024, 4096, 65_536].map((length) => [
      `fft lines ${length}`,
      transform([elements / length, length], [1]),
    ]),
  ),
  'fft 512³': transform([512, 512, 512]),
}

const clock = async (group: DeviceGroup, program: Program, repetitions: number) => {
  const start = performance.now()
  await group.queue.run(program, repetitions)
  return (performance.now() - start) / 1e3 / repetitions
}

const groups = {
  Tandem: await openGroup({ backends: [cuda()], devices: 1 }),
  WebGPU: await openGroup({ backends: [webgpu()], devices: 1 }),
}
for (const [by, { devices }] of Object.entries(groups))
  console.error(`${by}: ${devices[0]!.info.name} (${devices[0]!.info.backend})`)
for (const [work, prepare] of Object.entries(works)) {
  if (!work.includes(only)) continue
  try {
    const sides: { by: string; group: DeviceGroup; prepared: Prepared; repetitions: number }[] = []
    for (const [by, group] of Object.entries(groups)) {
      const prepared = await prepare(group)
      await clock(group, prepared.program, 2)
      const once = await clock(group, prepared.program, 4)
      sides.push({ by, group, prepared, repetitions: Math.max(1, Math.ceil(40e-3 / once)) })
    }
    const samples = sides.map((): number[] => [])
    for (let turn = 0; turn < turns; turn++)
      for (const [index, { group, prepared, repetitions }] of sides.entries())
        samples[index]!.push(await clock(group, prepared.program, repetitions))
    const [own, other] = await Promise.all(
      sides.map(({ group, prepared: { result } }) =>
        group.queue.read(result.slice(0, Math.min(result.length, 2 ** 16))),
      ),
    )
    const difference = Math.hypot(...own!.map((value, i) => value - other![i]!)) / Math.hypot(...own!)
    if (!(difference < 1e-5)) throw new Error(`the results differ by ${difference}`)
    for (const [index, { by }] of sides.entries()) {
      const seconds = samples[index]!.sort((a, b) => a - b)[(turns - 1) / 2]!
      const count = work === 'fft 512³' ? 512 ** 3 : elements
      console.log(JSON.stringify({ work, by, elements: count, devices: 1, seconds }))
    }
    for (const { prepared } of sides) prepared.free()
  } catch (error) {
    // One work that does not run leaves the others.
    console.error(`${work}: ${(error as Error).message}`)
    process.exitCode = 1
  }
}
for (const group of Object.values(groups)) await group.destroy()
