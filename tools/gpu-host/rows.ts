/*
 * The rows of table.ts. Both sides, ours and tools/peers/peers.py, warm up, take the median of at least 10
 * samples (3 where one takes more than a second), use fresh random data and verify; work shorter than a
 * millisecond is replayed many times for one sample.
 */
import {
  generatedElements,
  jacobi,
  type MatmulOptions,
  matmul,
  type Report,
  readElements,
  reduce,
  reductionKernelNames,
  transpose,
} from '@tandem-gpu/algorithms'
import { type DeviceGroup, foldWorkgroups } from '@tandem-gpu/core'
import { halfBits } from '@tandem-gpu/wgsl'
import { cube, middle, narrowShapes, square, type TableResult } from './table-documents.ts'

/** The table that the rows are for. */
export interface Job {
  readonly seed: number
  readonly verify: boolean
  readonly brief: boolean
  /** Undefined if choices are not measured. */
  readonly tuning: Map<string, string> | undefined
  /** The number of available devices. */
  readonly devices: number
  /** The requested sizes, or the usual ones of the row. */
  sizes(usual: readonly number[]): readonly number[]
  /** Opens groups of these numbers of devices, as far as they are available, or of the requested numbers. */
  on(devices: readonly number[], body: (group: DeviceGroup) => Promise<void>): Promise<void>
  /** Adds a result to table.ts's table; `variant` distinguishes programs that compute the same thing. */
  add(report: Report, variant?: string, work?: string): void
  /** Adds a result to the table of tensor cores, identified only by backend and variant. */
  addPlain(work: string, variant: string, report: Report): void
  push(result: TableResult): void
}

/**
 * Repeats the elements of a block, starting from its element `shift`: generating billions of elements one by
 * one takes longer than the work itself.
 */
function repeated<T extends Float32Array | Uint16Array>(block: T, shift = 0) {
  return (offset: number, into: T): void => {
    for (let at = 0; at < into.length; ) {
      const first = (offset + at + shift) % block.length
      const count = Math.min(block.length - first, into.length - at)
      into.set(block.subarray(first, first + count) as never, at)
      at += count
    }
  }
}

const blockOf = (seed: number) => readElements(generatedElements('f32', seed), 'f32', 0, 1_048_573)
export const inputOf = async ({ seed }: Job) => repeated(await blockOf(seed))

function timingOf({ seed, verify, brief, tuning }: Job) {
  const timing = { warmup: 5, samples: 11, seed, verify, ...(tuning && { tuning }) }
  return { timing, slow: { ...timing, warmup: brief ? 1 : 2, samples: brief ? 2 : 3 } }
}

/** The number of replays for one sample, which then takes about a millisecond. */
const replays = (side: number) => (side <= 2048 ? 200 : side <= 8192 ? 20 : 1)

async function transposes(job: Job): Promise<void> {
  const options = { ...timingOf(job).timing, input: await inputOf(job), type: 'f32' } as const
  await job.on([1], async (group) =>
    job.add(await transpose(group, { ...options, ...square(16384), repetitions: 5 })),
  )
  await job.on([2, 4, 8], async (group) => {
    for (const side of job.sizes([2048, 8192, 32768]))
      job.add(await transpose(group, { ...options, ...square(side), repetitions: replays(side) }))
  })
}

async function schedules(job: Job): Promise<void> {
  const options = { ...timingOf(job).timing, input: await inputOf(job), type: 'f32' } as const
  await job.on([2, 4], async (group) => {
    // As in the source, every tile copied and then transposed; and by the default, one kernel per sender.
    for (const transport of ['copy', 'scatter'] as const)
      for (const side of group.devices.length === 2 ? [2048, 32768] : [32768])
        for (const schedule of ['overlapped', 'serial'] as const) {
          const how = { schedule, transport, repetitions: replays(side) }
          job.add(await transpose(group, { ...options, ...square(side), ...how }), transport)
        }
  })
}

async function sums(job: Job): Promise<void> {
  const options = { ...timingOf(job).timing, input: await inputOf(job), type: 'f32' } as const
  await job.on([1], async (group) =>
    job.add(await reduce(group, { ...options, elements: 2 ** 29, repetitions: 3 })),
  )
  await job.on([4, 8], async (group) => {
    for (const elements of job.sizes([2 ** 22, 2 ** 28, 2 ** 31])) {
      const repetitions = elements <= 2 ** 22 ? 200 : elements <= 2 ** 28 ? 20 : 3
      job.add(await reduce(group, { ...options, elements, repetitions }))
    }
  })
}

async function ladder(job: Job): Promise<void> {
  const options = { ...timingOf(job).timing, elements: 2 ** 22, type: 'i32', repetitions: 100 } as const
  await job.on([1], async (group) => {
    for (const kernel of reductionKernelNames) job.add(await reduce(group, { ...options, kernel }), kernel)
  })
}

async function jacobis(job: Job): Promise<void> {
  const options = { ...timingOf(job).slow, input: await inputOf(job), residualEvery: 100 }
  await job.on([1, 4, 8], async (group) => {
    const solve = async (side: number, iterations: number, fuse = true) => {
      const report = await jacobi(group, { ...options, ...square(side), iterations, ...(!fuse && { fuse }) })
      const one = { ...report, seconds: report.seconds / report.iterations }
      job.add(one, fuse ? undefined : 'one sweep a pass')
    }
    const sides = group.devices.length === 4 ? [2048, 4096, 8192, 16384, 32768] : [2048, 16384]
    for (const side of job.sizes(sides)) await solve(side, side <= 8192 ? 2000 : 400)
    if (group.devices.length === 1) await solve(16384, 400, false)
  })
}

/** Work shorter than a millisecond is replayed. */
const repetitionsOf = ({ m, n, k }: { m: number; n: number; k: number }) => (m * n * k < 2 ** 34 ? 20 : 1)

async function products(job: Job): Promise<void> {
  const input = await inputOf(job)
  await job.on([1], async (group) => {
    for (const shape of [...[1024, 2048, 4096, 8192, 16384].map(cube), ...narrowShapes]) {
      const options = { ...timingOf(job).timing, ...shape, repetitions: repetitionsOf(shape) }
      job.add(await matmul(group, { ...options, a: input, b: input }))
    }
  })
}

async function residentProducts(job: Job): Promise<void> {
  const input = await inputOf(job)
  const options = { ...timingOf(job).slow, a: input, b: input, mode: 'resident' } as const
  await job.on([1, 4, 8], async (group) => {
    for (const side of job.sizes([32768]))
      job.add(await matmul(group, { ...options, ...cube(side) }), 'resident')
  })
}

async function streamedProducts(job: Job): Promise<void> {
  const input = await inputOf(job)
  const { timing, slow } = timingOf(job)
  await job.on([4], async (group) => {
    for (const side of job.sizes([8192, 16384, 32768])) {
      const options = { ...(side < 32768 ? timing : slow), ...cube(side), a: input, b: input }
      job.add(await matmul(group, { ...options, mode: 'streamed' }), undefined, 'gemm-streamed')
    }
  })
}

const precisions = ['ieee', 'split'] as const

async function f32Product(
  job: Job,
  group: DeviceGroup,
  options: MatmulOptions<'f32'>,
  work: string,
): Promise<void> {
  const block = await blockOf(job.seed)
  // B begins at another element of the block than A.
  const operands = { a: repeated(block), b: repeated(block, 5), verify: job.verify }
  const report = await matmul(group, { ...operands, ...options })
  job.addPlain(work, `${group.backend} ${report.precision}`, report)
}

/** Products on tensor cores, f32 and f16, on one GPU. */
async function tensorProducts(job: Job): Promise<void> {
  const halves = Uint16Array.from(await blockOf(job.seed), halfBits)
  const timing = { warmup: 2, samples: 11, devices: 1 }
  await job.on([1], async (group) => {
    for (const side of [4096, 8192, 16384])
      for (const precision of precisions) {
        const options = { ...timing, ...cube(side), precision, repetitions: repetitionsOf(cube(side)) }
        await f32Product(job, group, options, 'gemm f32')
      }
    for (const shape of [cube(4096), cube(8192), ...narrowShapes]) {
      const types = { type: 'f16', resultType: 'f32', verify: job.verify } as const
      const operands = { a: repeated(halves), b: repeated(halves, 5), repetitions: repetitionsOf(shape) }
      const report = await matmul(group, { ...timing, ...shape, ...types, ...operands })
      job.addPlain('gemm f16', `${group.backend} ${report.body}`, report)
    }
  })
}

/** f32 products on all GPUs, with and without tensor cores, resident and streamed. */
async function several(job: Job): Promise<void> {
  await job.on([job.devices], async (group) => {
    for (const side of job.sizes([8192, 16384, 32768]))
      for (const precision of precisions)
        for (const mode of ['resident', 'streamed'] as const) {
          const options = { ...cube(side), precision, mode, warmup: 2, samples: side < 32768 ? 7 : 3 }
          await f32Product(job, group, options, `gemm f32 ${mode}`)
        }
  })
}

/** Works that run on WebGPU and on CUDA on the same GPU: one process for each, after a second of warm-up. */
async function sameGpu(job: Job): Promise<void> {
  const input = await inputOf(job)
  await job.on([1], async (group) => {
    if (group.software) throw new Error(`${group.backend} has no GPU here.`)
    for (const fuse of [false, true]) {
      // One sample is enough: it is a mean over seconds of sweeps.
      const options = { ...square(16384), input, fuse, warmup: 0, samples: 1 }
      const report = await jacobi(group, { ...options, iterations: fuse ? 12_000 : 6000 })
      const seconds = report.seconds / report.iterations
      job.addPlain(fuse ? 'jacobi, fused' : 'jacobi, one sweep a pass', group.backend, { ...report, seconds })
    }
    const options = { ...square(16384), input, type: 'f32', samples: 11, repetitions: 5 } as const
    job.addPlain('transpose', group.backend, await transpose(group, { ...options, warmup: 200 }))
    await copies(job, group)
    for (const shape of narrowShapes) {
      const repetitions = repetitionsOf(shape)
      const warmup = Math.ceil(0.8 / ((2 * shape.m * shape.n * shape.k * repetitions) / 40e12))
      const how = { samples: 11, devices: 1, precision: 'ieee' } as const
      await f32Product(job, group, { ...shape, ...how, repetitions, warmup }, 'gemm f32, narrow')
    }
  })
}

/** The rates of plain kernels that copy 2^28 bytes, with 16 and 4 bytes per invocation. */
async function copies(job: Job, group: DeviceGroup): Promise<void> {
  const device = group.devices[0]!
  const elements = 2 ** 26
  const x = await device.allocate('f32', elements)
  const y = await device.allocate('f32', elements)
  const wanted = new Float32Array(elements)
  repeated(await blockOf(job.seed))(0, wanted)
  await group.queue.write(x, wanted)
  for (const width of [4, 1]) {
    const type = width === 4 ? 'vec4<f32>' : 'f32'
    const kernel = await group.compile({
      label: `copy ${type}`,
      wgsl: `struct Params { x_base: u32, y_base: u32, count: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<${type}>;
@group(0) @binding(2) var<storage, read_write> y: array<${type}>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u, @builtin(local_invocation_index) thread: u32) {
  let i = (workgroup.y * workgroups.x + workgroup.x) * 256u + thread;
  if (i < params.count) { y[params.y_base + i] = x[params.x_base + i]; }
}`,
    })
    await group.queue.run(group.record((recorder) => recorder.fill(y, 0)))
    const count = elements / width
    const workgroups = foldWorkgroups(count / 256, device)
    const program = group.record((r) => r.dispatch(kernel, { device: 0, workgroups, args: { x, y, count } }))
    await group.queue.run(program, 2000)
    const times: number[] = []
    for (let run = 0; run < 11; run++) times.push((await group.queue.run(program, 5)).seconds / 5)
    const seconds = middle(times)
    const verified = Buffer.from(wanted.buffer).equals(Buffer.from((await group.queue.read(y)).buffer))
    job.push({
      work: `copy of ${4 * width} bytes an invocation`,
      variant: group.backend,
      devices: 1,
      shape: { elements },
      seconds,
      rate: (8 * elements) / seconds,
      unit: 'B/s',
      verified,
    })
  }
  x.destroy()
  y.destroy()
}

/** Rows whose check takes minutes are last, so that a job that is cut short still has the others. */
export const rows: Readonly<Record<string, (job: Job) => Promise<void>>> = {
  transpose: transposes,
  schedules,
  sum: sums,
  ladder,
  gemm: products,
  jacobi: jacobis,
  products: tensorProducts,
  several,
  'same-gpu': sameGpu,
  'gemm-resident': residentProducts,
  'gemm-streamed': streamedProducts,
}

/** Rows that form a separate table. */
export const tensorRows = ['products', 'several', 'same-gpu']
