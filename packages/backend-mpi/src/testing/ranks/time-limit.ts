// Every rank: a kernel of one device never ends, and the others wait for it. The limit ends the run on all
// ranks, and the group remains usable.
//   mpirun -n 2 node time-limit.ts INNER_BACKEND [transport]
import { isGpuError, openGroup } from '@tandem-gpu/core'
import { expect } from 'vitest'
import { type MpiOptions, mpi } from '../../mpi.ts'
import { innerBackend, mpiLibraries } from '../inner-backend.ts'

const [inner = 'fake-gpus', transport] = process.argv.slice(2)
const options = { transport: transport as MpiOptions['transport'], libraries: mpiLibraries() }
const group = await openGroup({ backends: [mpi(await innerBackend(inner), options)] })
const { devices, queue, rank } = group
const kernel = await group.compile({
  wgsl: `struct Params { n: u32 }
    @group(0) @binding(0) var<uniform> params: Params;
    @group(0) @binding(1) var<storage, read_write> x: array<u32>;
    @compute @workgroup_size(1) fn main() { while (params.n != 0u) { x[1] += 1u; } x[0] += 1u; }`,
})
const values = await Promise.all(devices.map((device) => device.allocate('u32', 4)))
const [first, last] = [values[0]!, values.at(-1)!]
// The last device has the kernel that never ends; its results go round the others in every repetition.
const program = group.record((r) => {
  r.dispatch(kernel, { workgroups: 1, args: { x: last, n: r.parameter('n', 'u32', 1) } })
  r.copy(last, first)
  for (let i = 0; i + 1 < values.length; i++) r.copy(values[i]!, values[i + 1]!)
})
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'none',
    (error: unknown) => (isGpuError(error) ? error.code : String(error)),
  )
const clear = async () => {
  for (const buffer of values) await queue.write(buffer, new Uint32Array(4))
}
for (const limit of [0.5, 0.2]) {
  await clear()
  const begun = performance.now()
  const error = await queue.run(program, 7, { timeoutSeconds: limit }).catch((caught: unknown) => caught)
  expect(String(error)).toContain(`ran longer than its limit of ${limit} s`)
  expect(isGpuError(error, 'timeout')).toBe(true)
  expect(performance.now() - begun).toBeGreaterThan(limit * 900)
  await clear()
  // Of several lengths: each has its own flags, and the second run is like the first.
  for (const times of [5, 5, 300]) await queue.run(program, times, { parameters: { n: 0 } })
  expect((await queue.read(first))[0]).toBe(310)
  expect((await queue.run(program, 2, { parameters: { n: 0 }, timeoutSeconds: 60 })).repetitions).toBe(2)
}
// An endless series of launches, each of which ends: when the limit is reached, one rank may be a launch
// ahead of another. There are more commands than a graph holds, so a launch is one repetition.
const long = group.record((r) => {
  for (let i = 0; i < 300; i++) r.fill(first.slice(2, 2), i)
  r.dispatch(kernel, { workgroups: 1, args: { x: last, n: r.parameter('n', 'u32', 0) } })
  r.copy(last, first)
  for (let i = 0; i + 1 < values.length; i++) r.copy(values[i]!, values[i + 1]!)
})
for (let turn = 0; turn < 8; turn++) {
  expect(await codeOf(queue.run(long, 100_000_000, { timeoutSeconds: 0.1 }))).toBe('timeout')
  await clear()
  for (const times of [20, 5]) await queue.run(long, times)
  expect((await queue.read(first))[0]).toBe(25)
}
long.destroy()
// Only one device has work, and no rank has a message.
const local = group.record((r) => r.dispatch(kernel, { workgroups: 1, args: { x: last, n: 1 } }))
expect(await codeOf(queue.run(local, 2, { timeoutSeconds: 0.1 }))).toBe('timeout')
local.destroy()
await clear()
// What is queued before a run does not count, on any rank: here each part of 16 MiB takes 600 ms.
const large = await Promise.all(devices.map((device) => device.allocate('u8', 2 ** 26)))
const isLast = rank === group.rankCount - 1
if (isLast) process.env.FAKE_CUDA_COPY_MS = '600'
const written = Promise.all(large.map((buffer) => queue.write(buffer, new Uint8Array(2 ** 26))))
expect((await queue.run(program, 2, { parameters: { n: 0 }, timeoutSeconds: 2 })).repetitions).toBe(2)
await written
process.env.FAKE_CUDA_COPY_MS = ''
const { signal } = new AbortController()
expect(await codeOf(queue.run(program, 1, { signal, timeoutSeconds: 1 }))).toBe('unsupported')
expect(await codeOf(queue.run(program, 1, { signal, stopKernels: true }))).toBe('unsupported')
await queue.run(program, 2, { parameters: { n: 0 } })
for (const resource of [...values, ...large, program, kernel]) resource.destroy()
expect(await group.destroy()).toEqual({ leaks: [] })
console.log(`rank ${rank} has its limits`)
