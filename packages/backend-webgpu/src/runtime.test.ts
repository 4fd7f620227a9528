import { type GpuError, isGpuError } from '@tandem-gpu/core'
import type { Runtime } from '@tandem-gpu/core/backend'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { webgpu } from './index.ts'
import {
  allocateWith,
  contents,
  contiguous,
  kernelSource,
  PlanBuilder,
  patternBytes,
  region,
  storage,
  uniform,
} from './testing/hand-built.ts'

const words = (...values: number[]) => new Uint8Array(new Uint32Array(values).buffer)

/** x[i] = x[i] * factor + y[i], with 64 invocations per workgroup. */
const axpy = kernelSource(
  /* wgsl */ `
  struct Arguments { factor: u32, count: u32 }
  @group(0) @binding(0) var<storage, read_write> x: array<u32>;
  @group(0) @binding(1) var<storage, read> y: array<u32>;
  @group(0) @binding(2) var<uniform> arguments: Arguments;
  @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < arguments.count) { x[id.x] = x[id.x] * arguments.factor + y[id.x]; }
  }`,
  [storage('x', 'read_write'), storage('y', 'read'), uniform('arguments')],
)

async function openVirtual(devices: number, options = {}): Promise<Runtime> {
  const backend = webgpu(options)
  const { adapters, absence } = await backend.adapters()
  if (adapters[0] === undefined) throw new Error(absence?.reason)
  return backend.open(Array.from({ length: devices }, () => adapters[0]!))
}

describe.each([true, false])('virtual devices with peerAccess %s', (peerAccess) => {
  let runtime: Runtime
  beforeAll(async () => {
    runtime = await openVirtual(2, { peerAccess })
  })
  afterAll(async () => {
    await runtime.dispose()
    expect(runtime.live()).toEqual({ allocations: 0, hostAllocations: 0, kernels: 0, executables: 0 })
    expect((await runtime.lost).reason).toBe('destroyed')
  })

  test('peers are accessible as the option says', () => {
    expect(runtime.canAccessPeer(0, 0)).toBe(true)
    expect(runtime.canAccessPeer(0, 1)).toBe(peerAccess)
  })

  test('a plan of dispatches and a copy between devices runs many times', async () => {
    const kernel = await runtime.compile(axpy)
    const x = await allocateWith(runtime, 0, words(1, 2, 3, 4, 5))
    const y = await allocateWith(runtime, 0, words(1, 1, 1, 1, 1))
    const z = await runtime.allocate(1, 20, { label: 'z', zero: true })
    const plan = new PlanBuilder()
    plan.uniformBlock = new Uint8Array(256)
    plan.uniformBlock.set(words(2, 5))
    const [bx, by, bz] = [plan.device(x), plan.device(y), plan.device(z)]
    plan
      .dispatch(
        0,
        plan.kernel(kernel),
        1,
        [
          { buffer: bx, access: 'read_write' },
          { buffer: by, access: 'read' },
        ],
        { byteOffset: 0, byteLength: 8 },
      )
      .add({ kind: 'copy', device: 1, source: region(bx, 0, 20), target: region(bz, 0, 20) })
    const executable = await runtime.instantiate(plan.build())
    const result = await runtime.run(executable, { times: 3 })
    expect(result.seconds).toBeGreaterThan(0)
    expect(await contents(runtime, z)).toEqual(words(15, 23, 31, 39, 47))
    const uniformBlock = plan.uniformBlock.slice()
    uniformBlock.set(words(0, 2))
    const { spans } = await runtime.run(executable, { times: 1, uniformBlock, profile: true })
    expect(await contents(runtime, z)).toEqual(words(1, 1, 31, 39, 47))
    expect(spans?.map(({ command, device }) => [command, device])).toEqual([
      [0, 0],
      [1, 1],
    ])
    expect(spans![0]!.endSeconds).toBeGreaterThan(spans![0]!.startSeconds)
    runtime.release(executable)
    runtime.releaseKernel(kernel)
    for (const allocation of [x, y, z]) runtime.free(allocation)
  })

  test('uploads and downloads act at each repetition', async () => {
    const kernel = await runtime.compile(axpy)
    const x = await allocateWith(runtime, 0, words(0))
    const y = await allocateWith(runtime, 0, words(1))
    const host = runtime.allocateHost(4)
    const counter = new Uint32Array(host.arrayBuffer)
    counter[0] = 5
    const plan = new PlanBuilder()
    plan.uniformBlock = new Uint8Array(256)
    plan.uniformBlock.set(words(2, 1))
    const [bx, by, bh] = [plan.device(x), plan.device(y), plan.host(host)]
    plan
      .add({ kind: 'upload', device: 0, source: region(bh, 0, 4), target: region(bx, 0, 4) })
      .dispatch(
        0,
        plan.kernel(kernel),
        1,
        [
          { buffer: bx, access: 'read_write' },
          { buffer: by, access: 'read' },
        ],
        { byteOffset: 0, byteLength: 8 },
      )
      .add({ kind: 'download', device: 0, source: region(bx, 0, 4), target: region(bh, 0, 4) })
    const executable = await runtime.instantiate(plan.build())
    await runtime.run(executable, { times: 10 })
    expect(counter[0]).toBe(5 * 1024 + 1023)
    const { spans } = await runtime.run(executable, { times: 1, profile: true })
    expect(spans?.map(({ command }) => command)).toEqual([0, 1, 2])
    runtime.freeHost(host)
    expect(counter.length).toBe(0)
    runtime.release(executable)
    runtime.releaseKernel(kernel)
    runtime.free(x)
    runtime.free(y)
  })

  test('a copy within one buffer goes through scratch memory, even if it overlaps', async () => {
    const x = await allocateWith(runtime, 0, words(1, 2, 3, 4, 5))
    const plan = new PlanBuilder()
    const bx = plan.device(x)
    plan.add({ kind: 'copy', device: 0, source: region(bx, 0, 16), target: region(bx, 4, 16) })
    const executable = await runtime.instantiate(plan.build())
    await runtime.run(executable, { times: 1 })
    expect(await contents(runtime, x)).toEqual(words(1, 1, 2, 3, 4))
    runtime.release(executable)
    runtime.free(x)
  })

  test('calls take effect in order without being awaited', async () => {
    const x = await runtime.allocate(0, 4, { label: 'x', zero: true })
    const reads: Promise<void>[] = []
    const into: Uint8Array<ArrayBuffer>[] = []
    for (let i = 0; i < 20; i++) {
      void runtime.write(contiguous(x), words(i))
      into.push(new Uint8Array(4))
      reads.push(runtime.read(contiguous(x), into[i]!))
    }
    await Promise.all(reads)
    expect(into.map((bytes) => bytes[0])).toEqual(Array.from({ length: 20 }, (_, i) => i))
    runtime.free(x)
  })
})

describe('one device', () => {
  let runtime: Runtime
  beforeAll(async () => {
    runtime = await openVirtual(1)
  })
  afterAll(() => runtime.dispose())

  test('memory is zeroed and of any size', async () => {
    for (const byteLength of [2, 6, 10, 4, 257]) {
      const x = await runtime.allocate(0, byteLength, { label: 'x', zero: true })
      const { allocation } = contiguous(x)
      expect(x.byteLength).toBe(byteLength)
      expect((await contents(runtime, allocation)).every((byte) => byte === 0)).toBe(true)
      runtime.free(x)
    }
  })

  test('a large transfer goes through in pieces', async () => {
    const bytes = patternBytes(40 * 1024 * 1024 + 6)
    const x = await allocateWith(runtime, 0, bytes)
    expect(Buffer.compare(await contents(runtime, x), bytes)).toBe(0)
    runtime.free(x)
  })

  test('a long run is cut into submissions and can be aborted', async () => {
    const kernel = await runtime.compile(axpy)
    const x = await allocateWith(runtime, 0, words(0))
    const y = await allocateWith(runtime, 0, words(1))
    const plan = new PlanBuilder()
    plan.uniformBlock = new Uint8Array(256)
    plan.uniformBlock.set(words(1, 1))
    const bound = [
      { buffer: plan.device(x), access: 'read_write' as const },
      { buffer: plan.device(y), access: 'read' as const },
    ]
    plan.dispatch(0, plan.kernel(kernel), 1, bound, { byteOffset: 0, byteLength: 8 })
    const executable = await runtime.instantiate(plan.build('count'))
    await runtime.run(executable, { times: 10_000 })
    expect(await contents(runtime, x)).toEqual(words(10_000))
    const controller = new AbortController()
    const run = runtime.run(executable, { times: 100_000_000, signal: controller.signal })
    setTimeout(() => controller.abort(), 100)
    const error = (await run.catch((caught: unknown) => caught)) as GpuError
    expect(isGpuError(error, 'aborted')).toBe(true)
    expect(error.message).toMatch(/^"count" was aborted in repetition \d+ of 100000000/)
    await expect(runtime.run(executable, { times: 1, signal: controller.signal })).rejects.toMatchObject({
      code: 'aborted',
    })
    runtime.release(executable)
  })

  test('a kernel that does not compile says where', async () => {
    const source = kernelSource('@compute @workgroup_size(1) fn main() {\n  let a: u32 = 1.5;\n}', [])
    const error = (await runtime.compile(source).catch((caught: unknown) => caught)) as GpuError
    expect(error.code).toBe('compilation')
    expect([error.line, error.column]).toEqual([2, 16])
    expect(error.message).toContain('"kernel" failed to compile (line 2, column 16)')
  })

  test('what the device cannot do is unsupported', async () => {
    const body = (size: number) => `@compute @workgroup_size(${size}) fn main() {}`
    const attempts = [
      kernelSource(body(64), [], { bounds: 'trap' }),
      kernelSource(`enable f16; ${body(64)}`, [], { features: ['shader-f16'] }),
      kernelSource(body(4096), [], { workgroupSize: [4096, 1, 1] }),
    ]
    for (const source of attempts) {
      await expect(runtime.compile(source)).rejects.toMatchObject({ code: 'unsupported' })
    }
  })

  test('too large a buffer is refused with both sizes', async () => {
    const limit = runtime.devices[0]!.limits.maxBufferByteLength
    const attempt = runtime.allocate(0, limit + 4, { label: 'huge', zero: false })
    await expect(attempt).rejects.toMatchObject({
      code: 'too-large',
      message: expect.stringMatching(new RegExp(`"huge" has ${limit + 4} bytes.*${limit}`)),
    })
  })

  test('what the driver rejects is a driver error that carries its message', async () => {
    const kernel = await runtime.compile(axpy)
    const x = await runtime.allocate(0, 4, { label: 'x', zero: true })
    const plan = new PlanBuilder()
    plan.uniformBlock = new Uint8Array(256)
    // The second argument is not bound.
    const bound = [{ buffer: plan.device(x), access: 'read_write' as const }]
    plan.dispatch(0, plan.kernel(kernel), 1, bound)
    await expect(runtime.instantiate(plan.build('wrong'))).rejects.toMatchObject({
      code: 'driver',
      message: expect.stringContaining('failed to bind the arguments of "wrong"'),
    })
  })
})
