import { expect, test } from 'vitest'
import { isGpuError } from '../errors.ts'
import { accumulate } from '../testing/conformance/kernels.ts'
import { expectGpuError } from '../testing/conformance/suite.ts'
import { referenceBackend } from '../testing/reference-backend.ts'
import { openGroup } from './group.ts'

test('a program of 20 commands run 1,000 times is one call of the backend', async () => {
  const backend = referenceBackend()
  const group = await openGroup({ backends: [backend] })
  const buffer = await group.devices[0]!.allocate('u32', 20)
  const program = group.record((r) => {
    for (let i = 0; i < 20; i++) r.fill(buffer.slice(i, 1), i)
  })
  expect(await group.queue.run(program, 1000)).toMatchObject({ repetitions: 1000, clock: 'host' })
  expect(backend.runCalls).toBe(1)
  await group.queue.run(program, 0)
  expect(backend.runCalls).toBe(1)
  await group.destroy()
})

test('lost devices reject everything pending and after', async () => {
  const backend = referenceBackend()
  const group = await openGroup({ backends: [backend], label: 'g' })
  const buffer = await group.devices[0]!.allocate('u32', 20)
  const kernel = await group.compile({ wgsl: accumulate })
  const program = group.record((r) => r.fill(buffer, 1))
  const pending = [group.queue.run(program, 1_000_000), group.queue.read(buffer)]
  const settled = Promise.allSettled(pending)
  await new Promise((resolve) => setTimeout(resolve, 30))
  backend.lose('the cable is out')
  for (const result of await settled) {
    expect(result.status).toBe('rejected')
    expect(isGpuError((result as PromiseRejectedResult).reason, 'device-lost')).toBe(true)
  }
  expect(await group.lost).toEqual({ reason: 'unknown', message: 'the cable is out' })
  const message = 'The devices of group "g" were lost: the cable is out'
  await expectGpuError(() => group.queue.write(buffer, new Uint32Array(20)), 'device-lost', message)
  await expectGpuError(() => group.queue.run(program), 'device-lost', message)
  await expectGpuError(() => group.devices[0]!.allocate('f32', 1), 'device-lost', message)
  await expectGpuError(() => group.compile({ wgsl: accumulate }), 'device-lost', message)
  await expectGpuError(() => group.record(() => {}), 'device-lost', message)
  for (const resource of [buffer, kernel, program]) resource.destroy()
  expect(await group.destroy()).toEqual({ leaks: [] })
})

test('scratch that does not fit rejects, and fits once there is room', async () => {
  const backend = referenceBackend({ memoryByteLength: 1000 })
  const group = await openGroup({ backends: [backend] })
  const [device] = group.devices
  const target = await device!.allocate('u32', 50)
  const hog = await device!.allocate('u32', 100, { label: 'hog' })
  const program = group.record((r) => {
    const first = r.scratch(0, 'u32', 50, { label: 'first' })
    const second = r.scratch(0, 'u32', 100, { label: 'second' })
    r.fill(first, 3)
    r.copy(first, second.slice(0, 50))
    r.copy(second.slice(0, 50), target)
  })
  await expectGpuError(() => group.queue.run(program), 'out-of-memory', 'second', 400, 200)
  await expectGpuError(() => device!.allocate('u32', 51), 'out-of-memory', 204)
  hog.destroy()
  await group.queue.run(program)
  expect((await group.queue.read(target))[49]).toBe(3)
  program.destroy()
  target.destroy()
  expect(group.live()).toMatchObject({ allocations: 0, executables: 0 })
  await group.destroy()
})

test('a program destroyed while it runs, and its destroyed buffers, live until it is done', async () => {
  const group = await openGroup({ backends: [referenceBackend()] })
  const source = await group.devices[0]!.allocate('u32', 4)
  const target = await group.devices[0]!.allocate('u32', 4)
  const program = group.record((r) => {
    r.fill(source, 8)
    r.copy(source, target)
  })
  const run = group.queue.run(program, 3)
  const read = group.queue.read(target)
  for (const resource of [program, source, target]) resource.destroy()
  expect([...(await read)]).toEqual([8, 8, 8, 8])
  expect((await run).repetitions).toBe(3)
  expect(group.live()).toEqual({ allocations: 0, hostAllocations: 0, kernels: 0, executables: 0 })
  expect(await group.destroy()).toEqual({ leaks: [] })
})

test('kernels are checked against every device', async () => {
  const group = await openGroup({
    backends: [referenceBackend({ limits: { maxStorageBuffersPerDispatch: 1 }, features: new Set() })],
  })
  await expectGpuError(() => group.compile({ wgsl: accumulate, label: 'acc' }), 'too-large', 'acc', 2, 1)
  const subgroups = 'enable subgroups; @compute @workgroup_size(1) fn main() { _ = subgroupAdd(1u); }'
  await expectGpuError(() => group.compile({ wgsl: subgroups }), 'unsupported', 'subgroups', 'device 0')
  const large = 'var<workgroup> m: array<u32, 20000>; @compute @workgroup_size(1) fn main() { m[0] = 1; }'
  await expectGpuError(() => group.compile({ wgsl: large }), 'too-large', 80_000, 49_152)
  await expectGpuError(() => group.record((async () => {}) as () => void), 'validation', 'asynchronous')
  await group.destroy()
})

test('the reference executor notices accesses outside the declared view', async () => {
  const group = await openGroup({ backends: [referenceBackend()] })
  const wgsl = `@group(0) @binding(0) var<storage, read_write> x: array<u32>;
    @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) { x[i * 5] = i; }`
  const kernel = await group.compile({ wgsl, label: 'wide' })
  const x = await group.devices[0]!.allocate('u32', [8, 5])
  const fits = group.record((r) => r.dispatch(kernel, { workgroups: 1, args: { x: x.block(0, 0, 8, 1) } }))
  await group.queue.run(fits)
  expect((await group.queue.read(x.block(7, 0, 1, 1)))[0]).toBe(7)
  const short = group.record((r) =>
    r.dispatch(kernel, { workgroups: 1, args: { x: x.slice(0, 40).reshape(4, 3, 10) } }),
  )
  await expectGpuError(() => group.queue.run(short), 'validation', 'wide', 'writes x[5]', 'byte 20')
  await group.destroy()
})
