import type { Runtime } from '@tandem-gpu/core/backend'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeSource, openDevice } from './adapters.ts'
import { dawnPlatform } from './dawn-platform.ts'
import { PhysicalDevice } from './physical-device.ts'
import { WebGpuRuntime } from './runtime.ts'
import {
  allocateWith,
  contents,
  kernelSource,
  PlanBuilder,
  patternBytes,
  region,
  storage,
} from './testing/hand-built.ts'

/** Two `GPUDevice`s, as on a machine with two different GPUs: they share no memory. */
let runtime: Runtime
beforeAll(async () => {
  const { sources } = await dawnPlatform({})
  const source = sources[0]!
  const adapters = await Promise.all(['a', 'b'].map((id) => describeSource(source, id)))
  const devices = await Promise.all(
    ['a', 'b'].map(
      async (name) =>
        new PhysicalDevice(await openDevice(source, name, name), { name, software: true, owned: true }),
    ),
  )
  runtime = new WebGpuRuntime(adapters as NonNullable<(typeof adapters)[0]>[], devices, true)
})
afterAll(() => runtime.dispose())

test('neither reaches the memory of the other', () => {
  expect(runtime.canAccessPeer(0, 1)).toBe(false)
  expect(runtime.canAccessPeer(1, 1)).toBe(true)
})

test('copies between them go through host memory, in order, at each repetition', async () => {
  const kernel = await runtime.compile(
    kernelSource(
      /* wgsl */ `
      @group(0) @binding(0) var<storage, read_write> x: array<u32>;
      @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
        if (id.x < arrayLength(&x)) { x[id.x] = x[id.x] * 3u + 1u; }
      }`,
      [storage('x', 'read_write')],
    ),
  )
  const x = await allocateWith(runtime, 0, new Uint8Array(new Uint32Array([1, 2, 3]).buffer))
  const y = await runtime.allocate(1, 12, { label: 'y', zero: true })
  const plan = new PlanBuilder()
  const [bx, by, k] = [plan.device(x), plan.device(y), plan.kernel(kernel)]
  plan
    .dispatch(0, k, 1, [{ buffer: bx, access: 'read_write' }])
    .add({ kind: 'copy', device: 1, source: region(bx, 0, 12), target: region(by, 0, 12) })
    .dispatch(1, k, 1, [{ buffer: by, access: 'read_write' }])
    .add({ kind: 'copy', device: 0, source: region(by, 0, 12), target: region(bx, 0, 12) })
  const executable = await runtime.instantiate(plan.build())
  const result = await runtime.run(executable, { times: 3, profile: true })
  // Six times x -> 3x + 1.
  const expected = new Uint32Array([1, 2, 3].map((value) => 729 * value + 364))
  expect(new Uint32Array((await contents(runtime, x)).buffer)).toEqual(expected)
  expect(result.clock).toBe('host')
  expect(result.spans?.map(({ command }) => command)).toEqual([0, 2])
  runtime.release(executable)
})

test.each([
  { what: 'of several pieces', rows: 1000, rowByteLength: 18_000, sourceOffset: 4, targetOffset: 8, gap: 4 },
  { what: 'of 16-bit values', rows: 40, rowByteLength: 102, sourceOffset: 2, targetOffset: 4, gap: 2 },
])(
  'a strided region $what arrives whole',
  async ({ rows, rowByteLength, sourceOffset, targetOffset, gap }) => {
    const [sourceStride, targetStride] = [rowByteLength + gap, rowByteLength + 3 * gap]
    const sent = patternBytes(sourceOffset + rows * sourceStride)
    const expected = patternBytes(targetOffset + rows * targetStride, 2)
    const source = await allocateWith(runtime, 0, sent)
    const target = await allocateWith(runtime, 1, expected)
    const plan = new PlanBuilder()
    const [from, to] = [plan.device(source), plan.device(target)]
    plan.add({
      kind: 'copy',
      device: 1,
      source: region(from, sourceOffset, rowByteLength, rows, sourceStride),
      target: region(to, targetOffset, rowByteLength, rows, targetStride),
    })
    const executable = await runtime.instantiate(plan.build())
    await runtime.run(executable, { times: 1 })
    for (let row = 0; row < rows; row++) {
      const start = sourceOffset + row * sourceStride
      expected.set(sent.subarray(start, start + rowByteLength), targetOffset + row * targetStride)
    }
    expect(Buffer.compare(await contents(runtime, target), expected)).toBe(0)
    runtime.release(executable)
  },
)
