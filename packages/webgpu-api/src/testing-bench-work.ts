/*
 * The work that calls.bench.ts times, in its own process: the same WebGPU API calls on Tandem's CUDA backend
 * or on Dawn.
 *
 *   node packages/webgpu-api/src/testing-bench-work.ts tandem|dawn calls|start|drop|endless [FOLDER of the kernel cache]
 *
 * Prints one line of JSON. To try it without a GPU, run `tandem` with TANDEM_TEST_BACKEND=reference or
 * fake-cuda, and `dawn` with DAWN_FLAGS=backend=null.
 */
import { execFileSync } from 'node:child_process'
import type * as Jax from '@jax-js/jax'
import { cuda } from '@tandem-gpu/backend-cuda'
import type { Backend } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { createGPU, destroyGPU } from './create-gpu.ts'
import { install } from './install.ts'

const [side = 'tandem', what = 'calls', folder] = process.argv.slice(2)
const begun = performance.now()
const gpu = side === 'dawn' ? await openDawn() : await openTandem()
const work: Record<string, () => Promise<object>> = { calls, start, drop, endless }
const result = await work[what]!()
console.log(JSON.stringify({ side, what, ...result }))
// Dawn keeps the process alive.
process.exit(0)

async function openTandem(): Promise<GPU> {
  const backend = await chooseBackend()
  const opened = await createGPU({ backends: [backend], timeoutSeconds: what === 'endless' ? 2 : 10 })
  install(opened)
  return opened
}

async function chooseBackend(): Promise<Backend> {
  const kernelCache = folder === undefined ? undefined : { directory: folder }
  if (process.env.TANDEM_TEST_BACKEND === 'reference') return referenceBackend()
  if (process.env.TANDEM_TEST_BACKEND === 'fake-cuda') {
    const { fakeCudaBackend } = await import(
      new URL('../../backend-cuda/src/testing/fake-backend.ts', import.meta.url).pathname
    )
    return fakeCudaBackend(1, kernelCache)
  }
  return cuda({ kernelCache })
}

async function openDawn(): Promise<GPU> {
  const { create, globals } = await import('webgpu')
  const opened = create((process.env.DAWN_FLAGS ?? '').split(' ').filter((flag) => flag !== ''))
  Object.assign(globalThis, globals)
  // Node 20 has no navigator.
  if (!('navigator' in globalThis)) Object.defineProperty(globalThis, 'navigator', { value: {} })
  Object.defineProperty(navigator, 'gpu', { value: opened, configurable: true })
  return opened
}

async function openDevice(): Promise<GPUDevice> {
  const adapter = await gpu.requestAdapter()
  if (adapter === null) throw new Error(`${side} finds no GPU.`)
  return adapter.requestDevice()
}

/** Microseconds per call of each kind, including the work on the GPU. */
async function calls(): Promise<object> {
  const adapter = (await gpu.requestAdapter())!
  const name = `${adapter.info.vendor} ${adapter.info.architecture} ${adapter.info.description}`
  const device = await adapter.requestDevice()
  const errors: string[] = []
  device.addEventListener('uncapturederror', (event) =>
    errors.push((event as GPUUncapturedErrorEvent).error.message),
  )
  const { queue } = device
  const buffer = (usage: number, size = 256) => device.createBuffer({ size, usage })
  const { STORAGE, COPY_SRC, COPY_DST, UNIFORM, MAP_READ, INDIRECT } = GPUBufferUsage
  const layout = device.createBindGroupLayout({
    entries: (['read-only-storage', 'storage', 'uniform'] as const).map((type, binding) => ({
      binding,
      visibility: GPUShaderStage.COMPUTE,
      buffer: { type },
    })),
  })
  const module = device.createShaderModule({
    code: `
      @group(0) @binding(0) var<storage, read> a: array<f32>;
      @group(0) @binding(1) var<storage, read_write> x: array<f32>;
      @group(0) @binding(2) var<uniform> u: vec4f;
      @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) { x[i] = a[i] + u.x; }`,
  })
  const pipeline = await device.createComputePipelineAsync({
    layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
    compute: { module, entryPoint: 'main' },
  })
  const [a, x, u] = [
    buffer(STORAGE | COPY_SRC | COPY_DST),
    buffer(STORAGE | COPY_SRC | COPY_DST),
    buffer(UNIFORM | COPY_DST, 16),
  ]
  const uniform = new Float32Array(4)
  const bindGroup = () =>
    device.createBindGroup({
      layout,
      entries: [a, x, u].map((bound, binding) => ({ binding, resource: { buffer: bound } })),
    })
  const kept = bindGroup()
  const dispatches = (count: number, { fresh = false, write = false, passes = false }) => {
    const encoder = device.createCommandEncoder()
    let pass = encoder.beginComputePass()
    for (let i = 0; i < count; i++) {
      if (write) queue.writeBuffer(u, 0, uniform)
      if (passes && i > 0) {
        pass.end()
        pass = encoder.beginComputePass()
      }
      pass.setPipeline(pipeline)
      pass.setBindGroup(0, fresh ? bindGroup() : kept)
      pass.dispatchWorkgroups(1)
    }
    pass.end()
    queue.submit([encoder.finish()])
  }
  /** Returns the median of 9 parts; each part includes the wait at its end. */
  const time = async (rounds: number, call: () => void, wait = () => queue.onSubmittedWorkDone()) => {
    const parts: number[] = []
    for (let part = -2; part < 9; part++) {
      const from = performance.now()
      for (let i = 0; i < rounds; i++) call()
      await wait()
      if (part >= 0) parts.push(((performance.now() - from) / rounds) * 1000)
    }
    return median(parts)
  }
  const target = buffer(MAP_READ | COPY_DST)
  const read = async () => {
    const encoder = device.createCommandEncoder()
    encoder.copyBufferToBuffer(x, 0, target, 0, 256)
    queue.submit([encoder.finish()])
    await target.mapAsync(GPUMapMode.READ)
    new Float32Array(target.getMappedRange())
    target.unmap()
  }
  const reads: number[] = []
  const microseconds: Record<string, number> = {
    'submit of 1 dispatch, new bind group': await time(1000, () => dispatches(1, { fresh: true })),
    'submit of 1 dispatch, kept bind group': await time(1000, () => dispatches(1, {})),
    '16 dispatches, bind groups and writes': await time(100, () =>
      dispatches(16, { fresh: true, write: true }),
    ),
    '100 dispatches, each a pass, bind group and write': await time(20, () =>
      dispatches(100, { fresh: true, write: true, passes: true }),
    ),
    'createBuffer and destroy, 4 KiB': await time(500, () => buffer(STORAGE, 4096).destroy()),
    'writeBuffer of 16 bytes': await time(1000, () => queue.writeBuffer(u, 0, uniform)),
  }
  for (let i = 0; i < 300; i++) {
    const from = performance.now()
    await read()
    if (i >= 50) reads.push((performance.now() - from) * 1000)
  }
  microseconds['read of 256 bytes'] = median(reads)
  for (const groups of [300, 65535]) {
    const counts = buffer(INDIRECT | COPY_DST | STORAGE)
    queue.writeBuffer(counts, 0, Uint32Array.of(groups, 1, 1))
    const indirect = (isDirect: boolean) => () => {
      const encoder = device.createCommandEncoder()
      const pass = encoder.beginComputePass()
      pass.setPipeline(pipeline)
      pass.setBindGroup(0, kept)
      for (let i = 0; i < 20; i++) {
        if (isDirect) pass.dispatchWorkgroups(groups)
        else pass.dispatchWorkgroupsIndirect(counts, 0)
      }
      pass.end()
      queue.submit([encoder.finish()])
    }
    microseconds[`${groups} workgroups`] = (await time(10, indirect(true))) / 20
    microseconds[`${groups} workgroups, indirect`] = (await time(10, indirect(false))) / 20
  }
  // A lost device would finish early without doing the work.
  const state = await Promise.race([
    device.lost.then(({ message }) => message),
    device.queue.onSubmittedWorkDone(),
  ])
  if (state !== undefined || errors.length > 0) throw new Error(`${side}: ${state ?? errors[0]}`)
  device.destroy()
  return { name, microseconds, ...(await trainingStep()) }
}

/** A training step of a two-layer perceptron in jax-js, without jit: one submit per kernel. */
async function trainingStep(): Promise<object> {
  const { jax, device } = await openJax()
  const { numpy: np, random } = jax
  let submits = 0
  const submit = device.queue.submit.bind(device.queue)
  device.queue.submit = (buffers) => {
    submits++
    return submit(buffers)
  }
  const normal = (seed: number, shape: number[]) => random.normal(random.key(seed), shape)
  const [inputs, targets] = [normal(1, [64, 32]), normal(2, [64, 4])]
  let weights = [normal(3, [32, 64]), normal(4, [64, 4])] as [Jax.Array, Jax.Array]
  const loss = ([first, second]: [Jax.Array, Jax.Array]) =>
    np.mean(np.square(np.matmul(np.tanh(np.matmul(inputs.ref, first)), second).sub(targets.ref)))
  const step = () => {
    const [value, [first, second]] = jax.valueAndGrad(loss)([weights[0].ref, weights[1].ref]) as unknown as [
      Jax.Array,
      [Jax.Array, Jax.Array],
    ]
    weights = [weights[0].sub(first.mul(0.01)), weights[1].sub(second.mul(0.01))]
    return value
  }
  // Warm up until V8 has optimized the hot code.
  for (let i = 0; i < 150; i++) await step().data()
  submits = 0
  const [kept, read]: number[][] = [[], []]
  const steps = 20
  for (let part = 0; part < 7; part++) {
    const from = performance.now()
    for (let i = 1; i < steps; i++) step().dispose()
    await step().data()
    kept!.push((performance.now() - from) / steps)
  }
  const submitsPerStep = submits / (7 * steps)
  for (let i = 0; i < 40; i++) {
    const from = performance.now()
    await step().data()
    read!.push(performance.now() - from)
  }
  return {
    submitsPerStep,
    milliseconds: {
      'jax-js training step': median(kept!),
      'jax-js training step, loss read in each': median(read!),
    },
  }
}

async function openJax(): Promise<{ jax: typeof Jax; device: GPUDevice }> {
  const jax = await import('@jax-js/jax')
  await jax.init('webgpu')
  jax.defaultDevice('webgpu')
  return { jax, device: jax.getWebGPUDevice() as unknown as GPUDevice }
}

/**
 * Runs 21 jax-js operations, each for the first time in this process. The sums of their results are used to
 * compare the two sides.
 */
async function start(): Promise<object> {
  const { jax, device } = await openJax()
  let modules = 0
  const create = device.createShaderModule.bind(device)
  device.createShaderModule = (descriptor) => {
    modules++
    return create(descriptor)
  }
  const { numpy: np, nn, random, grad } = jax
  const length = 240
  const array = (offset: number, shape: number[]) =>
    np.array(Array.from({ length }, (_, i) => Math.sin(i + offset))).reshape(shape)
  const a = () => array(1, [12, 20])
  const b = () => array(2, [12, 20])
  const operations: (() => Jax.Array)[] = [
    () =>
      a()
        .add(b())
        .mul(b())
        .div(np.array([3])),
    () => a().mul(array(3, [12, 20]).sum(0)),
    () => np.log(np.exp(a()).add(np.sqrt(np.square(b())))),
    () => np.tanh(np.sin(b())),
    () => a().sum(1),
    () => np.stack([a().max(), b().mean()]),
    () => np.matmul(a(), array(2, [20, 12])),
    () => np.concatenate([np.transpose(a()), array(5, [20, 12])], 1),
    () => np.where(np.less(a(), np.array([0])), b(), a()),
    () => np.cumsum(array(6, [length])),
    () => nn.softmax(a()),
    () => nn.gelu(b()),
    () => nn.logSoftmax(a(), 0),
    () => np.convolve(array(7, [length]), np.array([1, -2, 3])),
    () => grad((x: Jax.Array) => np.sum(np.square(np.sin(x))))(a()) as Jax.Array,
    () => random.normal(random.key(7), [16, 16]),
    () => np.argmax(a(), 1).astype(np.float32),
    () => np.einsum('ij,kj->ik', a(), b()),
    () => np.var_(a(), 0),
    () => nn.standardize(a()),
    () =>
      grad((x: Jax.Array) => nn.logsumexp(np.tanh(np.matmul(x, array(2, [20, 12])))).sum())(a()) as Jax.Array,
  ]
  const from = performance.now()
  const sums: number[] = []
  for (const operation of operations) {
    const values = await operation().data()
    sums.push((values as Float32Array).reduce((total: number, value: number) => total + value, 0))
  }
  const now = performance.now()
  return { milliseconds: now - from, withOpening: now - begun, modules, sums }
}

/** GPU memory in use in MiB, as reported by the driver. */
function usedMebibytes(): number {
  const text = execFileSync('nvidia-smi', [
    '-i',
    '0',
    '--query-gpu=memory.used',
    '--format=csv,noheader,nounits',
  ])
  return Number(text.toString().trim())
}

/**
 * Creates 20,000 buffers of 256 KiB without destroying them, as jax-js does with its uniforms. Their GPU
 * memory must be released by garbage collection.
 */
async function drop(): Promise<object> {
  const device = await openDevice()
  const before = usedMebibytes()
  let most = before
  for (let round = 0; round < 40; round++) {
    for (let i = 0; i < 500; i++) {
      const buffer = device.createBuffer({
        size: 256 * 1024,
        usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST,
      })
      device.queue.writeBuffer(buffer, 0, Uint32Array.of(i))
    }
    await device.queue.onSubmittedWorkDone()
    most = Math.max(most, usedMebibytes())
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  // The remaining buffers are released when the collector next runs; the loop produces garbage to trigger it.
  for (let i = 0; i < 200; i++) {
    new Array(100_000).fill(i)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await device.queue.onSubmittedWorkDone()
  const after = usedMebibytes()
  return { createdMebibytes: 20_000 / 4, before, most, after }
}

/** A kernel that never ends loses its own GPUDevice within the time limit, and no other GPUDevice. */
async function endless(): Promise<object> {
  const [lost, kept] = [await openDevice(), await openDevice()]
  const kernel = (device: GPUDevice, body: string) =>
    device.createComputePipelineAsync({
      layout: 'auto',
      compute: {
        module: device.createShaderModule({
          code: `@group(0) @binding(0) var<storage, read_write> x: array<atomic<u32>>;
            @compute @workgroup_size(1) fn main() { ${body} }`,
        }),
      },
    })
  const run = async (device: GPUDevice, body: string) => {
    const x = device.createBuffer({ size: 4, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC })
    const pipeline = await kernel(device, body)
    const encoder = device.createCommandEncoder()
    const pass = encoder.beginComputePass()
    pass.setPipeline(pipeline)
    pass.setBindGroup(
      0,
      device.createBindGroup({
        layout: pipeline.getBindGroupLayout(0),
        entries: [{ binding: 0, resource: { buffer: x } }],
      }),
    )
    pass.dispatchWorkgroups(1)
    pass.end()
    const target = device.createBuffer({ size: 4, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST })
    encoder.copyBufferToBuffer(x, 0, target, 0, 4)
    device.queue.submit([encoder.finish()])
    await target.mapAsync(GPUMapMode.READ)
    return new Uint32Array(target.getMappedRange())[0]
  }
  const before = await run(kept, 'atomicAdd(&x[0], 5u);')
  const from = performance.now()
  const ending = run(lost, 'loop { if (atomicLoad(&x[0]) == 7u) { break; } }').then(
    () => 'none',
    (error: Error) => error.name,
  )
  const { reason } = await lost.lost
  const lostAfterMilliseconds = performance.now() - from
  const mapped = await ending
  const after = await run(kept, 'atomicAdd(&x[0], 6u);')
  const again = await run(await openDevice(), 'atomicAdd(&x[0], 7u);')
  const destroyFrom = performance.now()
  await destroyGPU(gpu)
  return {
    right: before === 5 && after === 6 && again === 7 && mapped === 'AbortError' && reason === 'unknown',
    ...{ lostAfterMilliseconds, mapped, reason, before, after, again },
    destroyMilliseconds: performance.now() - destroyFrom,
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((p, q) => p - q)
  return sorted[sorted.length >> 1]!
}
