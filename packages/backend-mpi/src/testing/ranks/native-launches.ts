// Every rank: a program with messages in every repetition, which native code repeats without JavaScript if
// the inner backend can.
//   mpirun -n 2 node native-launches.ts [INNER BACKEND, default fake-cuda] [TRANSPORT, default staged]
//     [fail: rank 1's fake driver refuses to launch] [FOLDER, empty]
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { isGpuError, openGroup } from '@tandem-gpu/core'
import { expect } from 'vitest'
import { type MpiOptions, mpi } from '../../mpi.ts'
import { countedRuns } from '../counted-runs.ts'
import { innerBackend, mpiLibraries } from '../inner-backend.ts'
import { valueRing } from '../value-ring.ts'

const [name = 'fake-cuda', transport = 'staged', act, folder = ''] = process.argv.slice(2)
const { backend, runs } = countedRuns(await innerBackend(name))
const options = { virtual: true, transport: transport as MpiOptions['transport'], libraries: mpiLibraries() }
const group = await openGroup({ backends: [mpi(backend, options)], virtual: true })
const { devices, queue } = group
const { program, owned, expectTurns } = await valueRing(group)
const turns = 25 * devices.length + 1
if (act === 'fail') {
  // On devices that need no messages of the host, a run like the previous one needs no JavaScript.
  for (let run = 0; run < 2; run++) await queue.run(program, turns)
  // Each rank has its own device, or the first one.
  if (group.rank === 1) process.env.FAKE_CUDA_FAIL_DEVICE = name === 'fake-gpus' ? '1' : '0'
  const error = await queue.run(program, turns).catch((caught) => caught)
  console.log(`rank ${group.rank} ends: ${isGpuError(error) ? `${error.code}: ${error.message}` : error}`)
  // Gives the others time to report it too, before the launcher notices that one has ended.
  await writeFile(join(folder, `${group.rank}`), '')
  while ((await readdir(folder)).length < group.rankCount) await setTimeout(100)
  process.exit(3)
}
const start = performance.now()
await queue.run(program, turns)
const microseconds = ((performance.now() - start) / turns) * 1000
await expectTurns(turns)
expect(runs()).toBe(0)
if (group.rank === 0)
  console.log(`${turns} repetitions without JavaScript, ${microseconds.toFixed(1)} µs each`)

// Rows with gaps, in more pieces than host memory contains at once: from the first device to the last, and
// back to rows without gaps.
const [rows, columns, stride] = [801, 5003, 5008]
const long = await Promise.all(
  [devices[0]!, devices.at(-1)!].map((device) => device.allocate('u32', [rows, stride])),
)
const dense = await devices[0]!.allocate('u32', [rows, columns])
const numbers = ascending(rows * columns)
const [from, to] = long.map((buffer) => buffer.block(0, 2, rows, columns))
await queue.write(from!, numbers)
const there = group.record((r) => {
  r.copy(from!, to!)
  r.copy(to!, dense)
})
await queue.run(there, 3)
const found = await queue.read(dense)
expect(Buffer.compare(new Uint8Array(found.buffer), new Uint8Array(numbers.buffer))).toBe(0)
there.destroy()
for (const buffer of [...long, dense]) buffer.destroy()
for (const resource of owned) resource.destroy()
expect(await group.destroy()).toEqual({ leaks: [] })

function ascending(length: number): Uint32Array<ArrayBuffer> {
  const numbers = new Uint32Array(length)
  for (let i = 0; i < length; i++) numbers[i] = i * 3
  return numbers
}
