/*
 * Rows of table.ts about tensor cores (docs/performance/tensor-cores.md) and about WebGPU beside CUDA on the same GPU (webgpu.md there): `products`, f32 and f16 on one
 * GPU; `several`, f32 on all GPUs, resident and streamed; `same-gpu`. Peers come from `tools/peers/peers.py --only tensor`.
 *
 * Inputs are random, a block of 2^20 numbers repeated; each product is checked as a whole and at sampled elements (check-product.ts), the others by the algorithm's own
 * check. Times are medians after two runs of warm-up; beside WebGPU after a second of it, by both.
 */
import { jacobi, matmul, type Report, transpose } from '@tandem-gpu/algorithms'
import { type DeviceGroup, foldWorkgroups } from '@tandem-gpu/core'
import { halfBits } from '@tandem-gpu/wgsl'
import { halfValues } from '../../packages/algorithms/dist/matmul/half/half-elements.js'
import { splitErrorFactor } from '../../packages/algorithms/dist/matmul/tensor/split-kernels.js'
import { type PeriodicMatrix, ProductChecker, SharedResult } from './check-product.ts'
import { takeTurn } from './gpu-turns.ts'
import { repeated } from './repeated-block.ts'
import { cube, narrowShapes, type TensorResult } from './table-documents.ts'

export const tensorOptions = {
  sides: { type: 'string', default: '8192,16384,32768' },
  turns: { type: 'string' },
  /** Of the rows on the same GPU. */
  works: { type: 'string', default: 'copy,transpose,jacobi,fused,narrow' },
} as const

/** The table that the rows are for. */
export interface TensorJob {
  readonly sides: string
  readonly turns?: string | undefined
  readonly works: string
  /** How many devices there are. */
  readonly devices: number
  on(devices: number, body: (group: DeviceGroup) => Promise<void>): Promise<void>
  add(result: TensorResult): void
}

const length = 1_048_573
const block = new Float32Array(new SharedArrayBuffer(4 * length))
for (let i = 0; i < length; i++) block[i] = 2 * Math.random() - 1
const halves = Uint16Array.from(block, halfBits)
const halfBlock = new Float32Array(new SharedArrayBuffer(4 * length))
halfBlock.set(halfValues(halves))
/** B begins elsewhere in the block than A. */
const shiftOfB = 5

function resultOf(
  work: string,
  variant: string,
  report: Report,
  check?: Partial<TensorResult>,
): TensorResult {
  const { shape, devices, seconds, rate, unit } = report
  return {
    ...{ work, variant, devices, shape, seconds, rate: rate * 1e9 },
    unit: unit === 'GB/s' ? 'B/s' : 'FLOP/s',
    verified: report.checked && report.verified,
    ...(report.checked && { verification: report.verification }),
    ...check,
  }
}

function requireGpu(group: DeviceGroup): void {
  if (group.software) throw new Error(`${group.backend} has no GPU here.`)
}

const matrixA: PeriodicMatrix = { block, shift: 0 }
const matrixB: PeriodicMatrix = { block, shift: shiftOfB }
const timing = { warmup: 2, verify: false }
/** Work shorter than a millisecond is replayed. */
const repetitionsOf = ({ m, n, k }: { m: number; n: number; k: number }) => (m * n * k < 2 ** 35 ? 20 : 1)

async function f32Product(
  job: TensorJob,
  group: DeviceGroup,
  checker: ProductChecker,
  shape: { m: number; n: number; k: number },
  precision: 'ieee' | 'split',
  work = 'gemm f32',
  warmSeconds = 0,
): Promise<void> {
  const repetitions = repetitionsOf(shape)
  const expected = (2 * shape.m * shape.n * shape.k * repetitions) / 40e12
  const c = new SharedResult(shape.m, shape.n)
  const endTurn = await takeTurn(job.turns)
  const report = await matmul(group, {
    ...{ ...timing, ...shape, precision, devices: 1, samples: shape.m > 8192 ? 5 : 11, repetitions },
    ...{ a: repeated<Float32Array>(block, 0), b: repeated<Float32Array>(block, shiftOfB) },
    warmup: Math.max(timing.warmup, Math.ceil(warmSeconds / expected)),
    output: (offset, data) => c.set(offset, data),
  })
  endTurn()
  const factor = precision === 'split' ? splitErrorFactor(shape.k) : shape.k + 2
  const check = await checker.check(shape, matrixA, matrixB, c, { factor })
  job.add(resultOf(work, `${group.backend} ${report.precision}`, report, check))
}

async function products(job: TensorJob): Promise<void> {
  const checker = new ProductChecker()
  await job.on(1, async (group) => {
    requireGpu(group)
    for (const side of [4096, 8192, 16384])
      for (const precision of ['ieee', 'split'] as const)
        await f32Product(job, group, checker, cube(side), precision)
    for (const shape of [cube(4096), cube(8192), ...narrowShapes]) {
      const c = new SharedResult(shape.m, shape.n)
      const report = await matmul(group, {
        ...{
          ...timing,
          ...shape,
          type: 'f16',
          resultType: 'f32',
          devices: 1,
          output: (offset, data) => c.set(offset, data as Float32Array),
          samples: 11,
        },
        ...{ a: repeated(halves, 0), b: repeated(halves, shiftOfB), repetitions: repetitionsOf(shape) },
      })
      const [a, b] = [0, shiftOfB].map((shift): PeriodicMatrix => ({ block: halfBlock, shift }))
      const check = await checker.check(shape, a!, b!, c, { factor: shape.k + 2 })
      job.add(resultOf('gemm f16', `${group.backend} ${report.body}`, report, check))
    }
  })
  await checker.close()
}

async function several(job: TensorJob): Promise<void> {
  const checker = new ProductChecker()
  await job.on(job.devices, async (group) => {
    requireGpu(group)
    for (const side of job.sides.split(',').map(Number)) {
      const [a, b, c] = [0, 1, 2].map(() => group.allocateHost('f32', side * side))
      const result = new SharedResult(side, side)
      try {
        repeated<Float32Array>(block, 0)(0, a!.array)
        repeated<Float32Array>(block, shiftOfB)(0, b!.array)
        for (const precision of ['ieee', 'split'] as const)
          for (const mode of ['resident', 'streamed'] as const) {
            for (const array of mode === 'resident' ? result.bands : [c!.array]) array.fill(Number.NaN)
            const report = await matmul(group, {
              ...{ ...timing, ...cube(side), precision, mode, a: a!, b: b! },
              ...{
                output: mode === 'resident' ? (offset, data) => result.set(offset, data) : c!,
                samples: side < 32768 ? 7 : 3,
              },
            })
            if (mode === 'streamed') result.set(0, c!.array)
            const factor = precision === 'split' ? splitErrorFactor(side) : side + 2
            const check = await checker.check(cube(side), matrixA, matrixB, result, { factor })
            job.add(resultOf(`gemm f32 ${mode}`, `${group.backend} ${report.precision}`, report, check))
          }
      } finally {
        for (const host of [a, b, c]) host?.destroy()
      }
    }
  })
  await checker.close()
}

async function sameGpu(job: TensorJob): Promise<void> {
  const checker = new ProductChecker()
  await job.on(1, async (group) => {
    requireGpu(group)
    const works = new Set(job.works.split(','))
    const input = repeated<Float32Array>(block, 0)
    const square = { rows: 16384, columns: 16384 }
    for (const fuse of [false, true]) {
      if (!works.has(fuse ? 'fused' : 'jacobi')) continue
      // One sample: it is a mean over seconds of sweeps. The turn ends with it, before the check.
      const endTurn = await takeTurn(job.turns)
      const options = { ...square, input, fuse, warmup: 0, samples: 1, iterations: fuse ? 12_000 : 6000 }
      const report = await jacobi(group, { ...options, onProgress: endTurn })
      endTurn()
      const seconds = report.seconds / report.iterations
      const work = fuse ? 'jacobi, fused' : 'jacobi, one sweep a pass'
      job.add(resultOf(work, group.backend, { ...report, seconds }))
    }
    if (works.has('transpose')) {
      const endTurn = await takeTurn(job.turns)
      const options = { ...square, input, type: 'f32', samples: 11, repetitions: 5 } as const
      const report = await transpose(group, { ...options, warmup: 200 })
      endTurn()
      job.add(resultOf('transpose', group.backend, report))
    }
    if (works.has('copy')) await copies(job, group)
    for (const shape of works.has('narrow') ? narrowShapes : [])
      await f32Product(job, group, checker, shape, 'ieee', 'gemm f32, narrow', 0.8)
  })
  await checker.close()
}

/** What plain kernels reach that copy 2^29 bytes, 16 and 4 bytes an invocation. */
async function copies(job: TensorJob, group: DeviceGroup): Promise<void> {
  const device = group.devices[0]!
  const elements = 2 ** 26
  const endTurn = await takeTurn(job.turns)
  const x = await device.allocate('f32', elements)
  const y = await device.allocate('f32', elements)
  const wanted = new Float32Array(elements)
  repeated<Float32Array>(block, 0)(0, wanted)
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
  if (i < params.count) {
    y[params.y_base + i] = x[params.x_base + i];
  }
}`,
    })
    await group.queue.run(group.record((recorder) => recorder.fill(y, 0)))
    const count = elements / width
    const program = group.record((recorder) =>
      recorder.dispatch(kernel, {
        device: 0,
        workgroups: foldWorkgroups(count / 256, device),
        args: { x, y, count },
      }),
    )
    const times: number[] = []
    for (let run = 0; run < 411; run++) {
      const { seconds } = await group.queue.run(program, 5)
      if (run >= 400) times.push(seconds / 5)
    }
    const seconds = times.sort((p, q) => p - q)[5]!
    const verified =
      Buffer.compare(Buffer.from(wanted.buffer), Buffer.from((await group.queue.read(y)).buffer)) === 0
    job.add({
      ...{
        work: `copy of ${4 * width} bytes an invocation`,
        variant: group.backend,
        devices: 1,
        shape: { elements },
        seconds,
      },
      ...{ rate: (8 * elements) / seconds, unit: 'B/s', verified, verification: 'every byte' },
    })
  }
  x.destroy()
  y.destroy()
  endTurn()
}

export const tensorRows: Readonly<Record<string, (job: TensorJob) => Promise<void>>> = {
  products,
  several,
  'same-gpu': sameGpu,
}
