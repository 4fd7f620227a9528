import { afterAll, describe, expect, it } from 'vitest'
import { expectNear } from './near.ts'
import { onWebGpu } from './on-webgpu.ts'
import { normalized, positive, product, rowsOf, softmax, sum, values } from './plain.ts'
import { type ModelLibrary, stubModelLibrary } from './stubs.ts'

type Shader = (...values: number[]) => void

let library: ModelLibrary
let device: GPUDevice

onWebGpu(async () => {
  const tvm = await import('@mlc-ai/web-runtime')
  const found = await tvm.detectGPUDevice()
  device = found!.device
  library = stubModelLibrary(2 ** 20)
  tvm.Instance.prototype.initWebGPU.call(library.instance as never, device)
})
afterAll(() => device.destroy())

// The functions that a compiled model library calls. Buffers are numbers, and host memory belongs to the
// library.
const api = (name: string) =>
  library.functions.get('wasm.WebGPUDeviceAPI')!(name as never) as (...values: number[]) => number
const sync = () => library.functions.get('wasm.WebGPUWaitForTasks')!() as Promise<void>

function upload(data: readonly number[]): number {
  const buffer = api('deviceAllocDataSpace')(4 * data.length)
  new Float32Array(library.bytes.buffer, 0, data.length).set(data)
  api('deviceCopyToGPU')(0, buffer, 0, 4 * data.length)
  return buffer
}

async function download(buffer: number, length: number, offset = 0): Promise<Float32Array> {
  api('deviceCopyFromGPU')(buffer, 4 * offset, 4096, 4 * length)
  await sync()
  return new Float32Array(library.bytes.buffer, 4096, length).slice()
}

interface Kernel {
  readonly name: string
  /** The buffers in order: true for those that are written. */
  readonly writes: readonly boolean[]
  /** Scalar arguments, by their names and types in WGSL. */
  readonly numbers?: Readonly<Record<string, 'i32' | 'f32'>>
  readonly threads?: number
  /** Declarations in module scope. */
  readonly declarations?: string
  /**
   * The body, which uses `b0`, `b1`, …, `args` and the indices of the block and the thread, as in the code of
   * TVM's generator.
   */
  readonly body: string
}

/** A module in the form that TVM's WebGPU code generator writes. */
function shader({ name, writes, numbers = {}, threads = 64, declarations = '', body }: Kernel): Shader {
  const buffers = writes.map(
    (write, i) =>
      `@group(0) @binding(${i}) var<storage, ${write ? 'read_write' : 'read'}> b${i} : array<f32>;`,
  )
  const members = Object.entries(numbers).map(([member, type]) => `${member}: ${type},`)
  const code = `
${buffers.join('\n')}
struct PODArgs { ${members.join(' ')} packGridDimX: u32 }
@group(0) @binding(${writes.length}) var<uniform> args : PODArgs;
${declarations}
@compute @workgroup_size(${threads}, 1, 1)
fn ${name}(
  @builtin(workgroup_id) blockIdx : vec3<u32>,
  @builtin(num_workgroups) gridDim : vec3<u32>,
  @builtin(local_invocation_id) threadIdx : vec3<u32>
) {
  if (blockIdx.z * gridDim.x + blockIdx.x > args.packGridDimX) { return; }
  let block : i32 = i32(blockIdx.z * gridDim.x + blockIdx.x);
  let thread : i32 = i32(threadIdx.x);
  let i : i32 = ((block * ${threads}) + thread);
  ${body}
}
`
  const info = {
    name,
    arg_types: [
      ...writes.map(() => 'handle'),
      ...Object.values(numbers).map((type) => (type === 'i32' ? 'int32' : 'float32')),
    ],
    launch_param_tags: [
      `paramWriteAccess:${JSON.stringify(writes.map(Number))}`,
      'blockIdx.x',
      'threadIdx.x',
    ],
  }
  const made = library.functions.get('wasm.WebGPUCreateShader')!(
    JSON.stringify(info) as never,
    code as never,
  ) as Shader
  return (...given) => made(...given, threads)
}

const a = values(256)
const b = positive(256)
const n = a.length

describe("TVM's runtime", () => {
  it('copies to the GPU, on it and back', async () => {
    const [from, to] = [upload(a), upload(b)]
    api('deviceCopyWithinGPU')(from, 16, to, 32, 64)
    expectNear(await download(to, n), [...b.slice(0, 8), ...a.slice(4, 20), ...b.slice(24)])
    expectNear(await download(to, 4, 8), a.slice(4, 8))
    api('deviceFreeDataSpace')(from)
    // Every test must run a kernel.
    const twice = shader({ name: 'twice', writes: [true], body: 'b0[i] = (b0[i] * 2.0f);' })
    twice(to, n / 64)
    expectNear(
      await download(to, 4, 0),
      b.slice(0, 4).map((value) => 2 * value),
    )
  })

  it('adds element by element', async () => {
    const add = shader({
      name: 'add_kernel',
      writes: [true, false, false],
      body: 'b0[i] = (b1[i] + b2[i]);',
    })
    const result = upload(Array(n).fill(0))
    add(result, upload(a), upload(b), n / 64)
    expectNear(
      await download(result, n),
      a.map((value, i) => value + b[i]!),
    )
  })

  it('runs many kernels in one submit, each with numbers of its own', async () => {
    const axpy = shader({
      name: 'axpy_kernel',
      writes: [true, false],
      numbers: { length: 'i32', factor: 'f32' },
      body: 'if (i < args.length) { b0[i] = (b0[i] + (args.factor * b1[i])); }',
    })
    const [result, x] = [upload(Array(n).fill(0)), upload(a)]
    // For 1 ≤ k ≤ 100, k is added to the elements below 2 k.
    for (let k = 1; k <= 100; k++) axpy(result, x, 2 * k, k, n / 64)
    expectNear(
      await download(result, n),
      a.map((value, i) => {
        let factor = 0
        for (let k = Math.floor(i / 2) + 1; k <= 100; k++) factor += k
        return factor * value
      }),
    )
  })

  it('multiplies matrices, in tiles of workgroup memory', async () => {
    const size = 16
    const matmul = shader({
      name: 'matmul_kernel',
      writes: [true, false, false],
      threads: size * size,
      declarations: `var<workgroup> A_shared : array<f32, ${size * size}>;\nvar<workgroup> B_shared : array<f32, ${size * size}>;`,
      body: `
  A_shared[thread] = b1[thread];
  B_shared[thread] = b2[thread];
  workgroupBarrier();
  var total : f32 = 0.0f;
  for (var k : i32 = 0; k < ${size}; k++) {
    total = fma(A_shared[(((thread / ${size}) * ${size}) + k)], B_shared[((k * ${size}) + (thread % ${size}))], total);
  }
  b0[thread] = total;`,
    })
    const result = upload(Array(n).fill(0))
    matmul(result, upload(a), upload(b), 1)
    expectNear(await download(result, n), product(rowsOf(a, size), rowsOf(b, size)).flat(), 1e-4)
  })

  it('takes the softmax of rows, by a tree in workgroup memory', async () => {
    const kernel = shader({
      name: 'softmax_kernel',
      writes: [true, false],
      declarations: 'var<workgroup> red_buf : array<f32, 64>;',
      body: `
  red_buf[thread] = b1[i];
  workgroupBarrier();
  for (var half : i32 = 32; half > 0; half = half / 2) {
    if (thread < half) { red_buf[thread] = max(red_buf[thread], red_buf[(thread + half)]); }
    workgroupBarrier();
  }
  let largest : f32 = red_buf[0];
  workgroupBarrier();
  let power : f32 = exp((b1[i] - largest));
  red_buf[thread] = power;
  workgroupBarrier();
  for (var half : i32 = 32; half > 0; half = half / 2) {
    if (thread < half) { red_buf[thread] = (red_buf[thread] + red_buf[(thread + half)]); }
    workgroupBarrier();
  }
  b0[i] = (power / red_buf[0]);`,
    })
    const result = upload(Array(n).fill(0))
    kernel(result, upload(a), n / 64)
    expectNear(await download(result, n), rowsOf(a, 64).flatMap(softmax))
  })

  it('normalises rows, one thread each', async () => {
    const kernel = shader({
      name: 'layer_norm_kernel',
      writes: [true, false],
      numbers: { columns: 'i32', epsilon: 'f32' },
      threads: 4,
      body: `
  var mean : f32 = 0.0f;
  for (var k : i32 = 0; k < args.columns; k++) { mean = (mean + b1[((i * args.columns) + k)]); }
  mean = (mean / f32(args.columns));
  var variance : f32 = 0.0f;
  for (var k : i32 = 0; k < args.columns; k++) {
    let apart : f32 = (b1[((i * args.columns) + k)] - mean);
    variance = (variance + (apart * apart));
  }
  variance = (variance / f32(args.columns));
  for (var k : i32 = 0; k < args.columns; k++) {
    b0[((i * args.columns) + k)] = ((b1[((i * args.columns) + k)] - mean) * inverseSqrt((variance + args.epsilon)));
  }`,
    })
    const result = upload(Array(n).fill(0))
    kernel(result, upload(a), 64, 1e-5, 1)
    expectNear(
      await download(result, n),
      rowsOf(a, 64).flatMap((row) => normalized(row)),
      1e-4,
    )
  })

  it('binds ten storage buffers', async () => {
    const inputs = Array.from({ length: 9 }, (_, k) => values(n, k + 1))
    const kernel = shader({
      name: 'sum_kernel',
      writes: [true, ...inputs.map(() => false)],
      body: `b0[i] = ${inputs.map((_, k) => `b${k + 1}[i]`).join(' + ')};`,
    })
    const result = upload(Array(n).fill(0))
    kernel(result, ...inputs.map(upload), n / 64)
    expectNear(
      await download(result, n),
      a.map((_, i) => sum(inputs.map((input) => input[i]!))),
    )
  })

  it('spreads more than 65,535 blocks over two dimensions', async () => {
    const blocks = 70_000
    const kernel = shader({
      name: 'count_kernel',
      writes: [true],
      threads: 1,
      body: `if (i < ${blocks}) { b0[i] = f32(i); }`,
    })
    const result = api('deviceAllocDataSpace')(4 * blocks)
    kernel(result, blocks)
    expectNear(await download(result, 3, blocks - 3), [blocks - 3, blocks - 2, blocks - 1])
  })

  it('reads after each of many writes', async () => {
    const buffer = upload(a)
    const negate = shader({ name: 'negate_kernel', writes: [true], body: 'b0[i] = -(b0[i]);' })
    for (let round = 1; round <= 5; round++) {
      negate(buffer, n / 64)
      expectNear(
        await download(buffer, n),
        a.map((value) => (round % 2 === 0 ? value : -value)),
      )
    }
    expect(library.functions.has('wasm.WebGPUDeviceAPI')).toBe(true)
  })
})
