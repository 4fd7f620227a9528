// Every rank: memory and graphs run out on rank 1 alone, for a while. Every rank gets the error, or none if
// memory is freed in time, and the group remains usable.
//   FAKE_CUDA_MEMORY=BYTES mpirun -n 3 node memory.ts TRANSPORT [INNER_BACKEND]
// Real GPUs with as many bytes refuse only memory, not graphs.
import { type DeviceBuffer, isGpuError, openGroup } from '@tandem-gpu/core'
import { expect } from 'vitest'
import { type MpiOptions, mpi } from '../../mpi.ts'
import { mpiSession } from '../../session.ts'
import { innerBackend, mpiLibraries } from '../inner-backend.ts'

const [transport, inner = 'fake-gpus'] = process.argv.slice(2)
const fake = inner !== 'cuda'
const backend = mpi(await innerBackend(inner), {
  transport: transport as MpiOptions['transport'],
  libraries: mpiLibraries(),
})
const group = await openGroup({ backends: [backend] })
const { devices, queue, rank } = group
const block = (milliseconds: number) =>
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'works',
    (error: unknown) => (isGpuError(error) ? error.code : String(error)),
  )

// Two thirds of each device's memory.
const length = Math.floor(Number(process.env.FAKE_CUDA_MEMORY) / 4 / 3 / 256) * 256
const exchange = (values: readonly DeviceBuffer<'u32'>[], label: string) =>
  group.record(
    (r) => {
      for (const [i, buffer] of values.entries())
        r.copy(buffer.slice(0, 64), values[(i + 1) % values.length]!.slice(64, 64))
    },
    { label },
  )
const allocate = () =>
  Promise.all(devices.map((device) => device.allocate('u32', 2 * length, { zero: false })))

for (let turn = 0; turn < 3; turn++) {
  const values = await allocate()
  const program = exchange(values, `exchange ${turn}`)
  await queue.run(program, 1 + turn)
  // Rank 1 is late: memory of others that it maps stays allocated until then, although they have freed it.
  if (rank === 1) block(1500)
  program.destroy()
  for (const buffer of values) buffer.destroy()
}

// The same for memory that a program allocates for itself.
const values = await allocate()
const used = exchange(values, 'used')
await queue.run(used)
if (rank === 1) block(1500)
used.destroy()
for (const buffer of values) buffer.destroy()
const small = await Promise.all(devices.map((device) => device.allocate('u32', 128)))
const withScratch = group.record(
  (r) => {
    for (const [i, device] of devices.entries()) {
      const scratch = r.scratch(device, 'u32', 2 * length)
      r.fill(scratch, 7 + i)
      r.copy(scratch.slice(0, 64), small[(i + 1) % devices.length]!.slice(0, 64))
    }
  },
  { label: 'with scratch' },
)
await queue.run(withScratch)
for (const [i, buffer] of small.entries())
  expect((await queue.read(buffer))[0]).toBe(7 + ((i + devices.length - 1) % devices.length))
expect(await codeOf(devices[1]!.allocate('u32', 2 * length))).toBe('out-of-memory')
withScratch.destroy()

// A graph of a new length that rank 1 cannot create.
const ring = exchange(small, 'ring')
await queue.run(ring, 2)
for (const times of [3, 300]) {
  if (rank === 1) process.env.FAKE_CUDA_GRAPHS = '0'
  if (fake) expect(await codeOf(queue.run(ring, times))).toBe('out-of-memory')
  delete process.env.FAKE_CUDA_GRAPHS
  expect(await codeOf(queue.run(ring, times))).toBe('works')
}
// The same for runs that a signal or a limit may end, which are divided into parts.
const { signal } = new AbortController()
for (const options of [{ signal }, { timeoutSeconds: 600 }]) {
  await queue.run(ring, 100)
  if (rank === 1) process.env.FAKE_CUDA_GRAPHS = '0'
  if (fake) expect(await codeOf(queue.run(ring, 100, options))).toBe('out-of-memory')
  delete process.env.FAKE_CUDA_GRAPHS
  expect(await codeOf(queue.run(ring, 100, options))).toBe('works')
}
// The same for profiled runs, and for a program that has not run.
const fresh = exchange(small, 'fresh')
for (const run of [() => queue.run(fresh), () => queue.run(ring, 3, { profile: true })]) {
  if (rank === 1) process.env.FAKE_CUDA_GRAPHS = '0'
  if (fake) expect(await codeOf(run())).toBe('out-of-memory')
  delete process.env.FAKE_CUDA_GRAPHS
  expect(await codeOf(run())).toBe('works')
}
// Graphs of many lengths, few of which are kept, while native code repeats runs on some ranks alone: of three
// ranks, the third has no part in the program.
const pair = exchange(small.slice(0, 2), 'pair')
for (const times of [3, 3, 4, 4, 5, 6, 7, 8, 3, 3, 9, 9, 10, 3, 3, 4, 130, 3, 131, 3])
  await queue.run(pair, times, times === 5 ? { profile: true } : times === 131 ? { signal } : {})
for (const owned of [ring, fresh, pair, ...small]) owned.destroy()
expect(group.live()).toEqual({ allocations: 0, hostAllocations: 0, kernels: 0, executables: 0 })
expect(await group.destroy()).toEqual({ leaks: [] })
await (await mpiSession()).gather('all have destroyed the group')
if (rank === 0) console.log('memory comes back')
