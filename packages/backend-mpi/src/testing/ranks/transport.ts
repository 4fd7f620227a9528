// Every rank: the transport that a group gets, and why no faster one; then a program whose devices wait for
// each other in every repetition.
//   mpirun -n 2 node transport.ts INNER_BACKEND [transport]
//     [kill: rank 1 kills itself in the middle of a run; kill-repeated: in the middle of many]
import { isGpuError, openGroup } from '@tandem-gpu/core'
import { expect } from 'vitest'
import { type MpiOptions, mpi } from '../../mpi.ts'
import { mpiSession } from '../../session.ts'
import { countedRuns } from '../counted-runs.ts'
import { innerBackend, mpiLibraries } from '../inner-backend.ts'

const [inner = 'fake-gpus', transport, act] = process.argv.slice(2)
const options: MpiOptions = {
  ...(transport && { transport: transport as MpiOptions['transport'] }),
  virtual: inner === 'fake-cuda',
  libraries: mpiLibraries(),
}
try {
  const { backend, runs } = countedRuns(await innerBackend(inner))
  const group = await openGroup({ backends: [mpi(backend, options)], virtual: true })
  const { devices, queue, rank, rankCount } = group
  const shares = group.transport!.name === 'ipc'
  if (rank === 0) console.log(JSON.stringify(group.transport))
  const { name, refused } = group.transport!
  for (const text of [
    ` through ${name}.`,
    ...refused.map(({ name, reason }) => ` Not through ${name}: ${reason}`),
  ])
    expect(group.selection.reason).toContain(text)
  expect(group.canAccessPeer(0, rankCount - 1)).toBe(shares)

  // The values of each device pass through every other device.
  const length = 300
  const count = devices.length
  const values = await Promise.all(devices.map((device) => device.allocate('u32', length)))
  const next = await Promise.all(devices.map((device) => device.allocate('u32', length)))
  const everywhere = group.allocateHost('u32', length)
  const placed = devices.map((device) => group.allocateHost('u32', length, { device }))
  // Not awaited: the run still comes after them.
  for (const [i, buffer] of values.entries())
    void queue.write(
      buffer,
      Uint32Array.from({ length }, (_, k) => i * 1000 + k),
    )
  const program = group.record((r) => {
    for (let i = 0; i < count; i++) r.copy(values[i]!, next[(i + 1) % count]!)
    for (let i = 0; i < count; i++) r.copy(next[i]!, values[i]!)
  })
  const turns = 100 * count + 1
  if (act === 'kill') {
    if (rank === 1) setTimeout(() => process.kill(process.pid, 'SIGKILL'), 1500)
    await queue.run(program, 10_000_000)
  }
  if (act === 'kill-repeated') {
    if (rank === 1) setTimeout(() => process.kill(process.pid, 'SIGKILL'), 1500)
    for (;;) await queue.run(program, turns)
  }
  const running = queue.run(program, turns)
  const found = await queue.read(values[0]!)
  await running
  // A run that cannot be aborted is one call of the backend if the devices need no messages of the host.
  const joined = ['ipc', 'nccl'].includes(name)
  if (joined) expect(runs()).toBe(1)
  expect([...found]).toEqual(Array.from({ length }, (_, k) => ((count - 1) % count) * 1000 + k))

  // Host memory: from one rank to another, from one to all, and from all to a device.
  const moves = group.record((r) => {
    for (let i = 0; i < count; i++) r.copy(values[i]!, placed[i]!)
    for (let i = 0; i < count; i++) r.copy(placed[i]!, placed[(i + 1) % count]!)
    r.copy(placed[0]!, everywhere)
    r.copy(everywhere, next[count - 1]!)
    r.copy(values[0]!.slice(0, 7), everywhere.slice(0, 7))
  })
  await queue.run(moves)
  const own = new Map(values.map((_, i) => [i, (i - 1 + count) % count]))
  // The chain of copies in recorded order: the last one copies the content that placed[count - 1] has by
  // then to placed[0].
  const first = own.get(0)! * 1000
  expect([...everywhere.array.subarray(0, 7)]).toEqual(Array.from({ length: 7 }, (_, k) => first + k))
  expect([...everywhere.array.subarray(7)]).toEqual(
    Array.from({ length: length - 7 }, (_, k) => first + 7 + k),
  )
  const last = await queue.read(next[count - 1]!)
  expect([...last]).toEqual(Array.from({ length }, (_, k) => first + k))

  // An abort on one rank ends the run of all after the same repetition: all devices have as many repetitions.
  const controller = new AbortController()
  if (rank === rankCount - 1) setTimeout(() => controller.abort(), 50)
  const aborted = await queue.run(program, 100_000_000, { signal: controller.signal }).catch((error) => error)
  expect(isGpuError(aborted, 'aborted')).toBe(true)
  const heads = await Promise.all(values.map(async (buffer) => (await queue.read(buffer))[0]! / 1000))
  expect(heads.map((head, i) => (head - heads[0]! - i + 2 * count) % count)).toEqual(heads.map(() => 0))
  // If one rank passes a signal, all divide the run, and end after the same repetition.
  if (joined) {
    const before = runs()
    await queue.run(program, 1000, rank === 0 ? { signal: new AbortController().signal } : {})
    expect(runs() - before).toBeGreaterThan(1)
  }
  const { seconds, repetitions } = await queue.run(program, 3)
  expect({ positive: seconds > 0, repetitions }).toEqual({ positive: true, repetitions: 3 })

  // A run like the previous one needs no JavaScript: it takes the time of the slowest rank, and all devices
  // have as many repetitions.
  if (joined) {
    const before = runs()
    const { seconds } = await queue.run(program, 3)
    expect(runs()).toBe(before)
    const said = await (await mpiSession()).gather(`${seconds}`)
    expect(said).toHaveLength(1)
    expect(seconds).toBeGreaterThan(0)
    const moved = await Promise.all(values.map(async (buffer) => (await queue.read(buffer))[0]! / 1000))
    // Since the abort: 1000 repetitions, and 3 twice.
    expect(moved).toEqual(heads.map((head) => (((head - 1006) % count) + count) % count))
  }

  // A rank starts late on a run that all have agreed on: the clocks of the others do not count this time.
  if (joined) {
    const begun = performance.now()
    const late = queue.run(program, 1)
    const word = new Int32Array(new SharedArrayBuffer(4))
    if (rank === count - 1) setImmediate(() => Atomics.wait(word, 0, 0, 400))
    const { seconds } = await late
    if (rank === count - 1) expect(seconds * 1000).toBeLessThan(performance.now() - begun - 300)
  }

  // Megabytes, which copy engines move: a run of several lengths, whose first values show how far it got.
  const megabytes = await Promise.all(
    [...devices, ...devices].map((device) => device.allocate('u32', 2 ** 18 + 5)),
  )
  const [large, taken] = [megabytes.slice(0, count), megabytes.slice(count)]
  for (const [i, buffer] of large.entries())
    void queue.write(
      buffer,
      Uint32Array.from({ length: buffer.length }, (_, k) => i * 2 ** 20 + k),
    )
  const ring = group.record((r) => {
    for (let i = 0; i < count; i++) r.copy(large[i]!, taken[(i + 1) % count]!)
    for (let i = 0; i < count; i++) r.copy(taken[i]!, large[i]!)
  })
  let round = 0
  for (const times of [3, 1, 8]) {
    await queue.run(ring, times)
    round += times
    for (const [i, buffer] of large.entries()) {
      const origin = (((i - round) % count) + count) % count
      const held = await queue.read(buffer)
      expect(held.findIndex((value, k) => value !== origin * 2 ** 20 + k)).toBe(-1)
    }
  }
  for (const program_ of [program, moves, ring]) program_.destroy()
  for (const buffer of [...values, ...next, everywhere, ...placed, ...megabytes]) buffer.destroy()
  expect(group.live()).toEqual({ allocations: 0, hostAllocations: 0, kernels: 0, executables: 0 })
  expect(await group.destroy()).toEqual({ leaks: [] })
  if (rank === 0) console.log('all values are right')
} catch (error) {
  if (!isGpuError(error)) throw error
  const session = await mpiSession()
  console.log(`rank ${session.rank} ends: ${error.code}: ${error.message}`)
  // Gives the others time to report it too, before the launcher notices that one has ended.
  if (error.code !== 'device-lost') await session.gather('all have said it')
  // A refusal is a result too.
  if (error.code !== 'unsupported') process.exit(3)
}
