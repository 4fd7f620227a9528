// Every rank: writes, runs and reads that nobody awaits, of programs that are one message and nothing else,
// between every pair of neighbours, in memory that is freed and allocated anew.
//   mpirun -n 2 node calls-in-order.ts INNER_BACKEND [transport] [rounds, default 1]
//     [elements of the longest message]
import { openGroup } from '@tandem-gpu/core'
import { type MpiOptions, mpi } from '../../mpi.ts'
import { innerBackend, mpiLibraries } from '../inner-backend.ts'

const [inner = 'fake-gpus', transport = 'staged', rounds = '1', longest = '1000'] = process.argv.slice(2)
const options: MpiOptions = { transport: transport as MpiOptions['transport'], libraries: mpiLibraries() }
const group = await openGroup({ backends: [mpi(await innerBackend(inner), options)] })
const { devices, queue, rank } = group
const wrong: string[] = []
let looked = 0
for (let round = 0; round < Number(rounds); round++)
  for (const length of [1, 1000, 5000, 300_000, 3_000_000].filter((length) => length <= Number(longest)))
    for (const [from, device] of devices.entries()) {
      const to = (from + 1 + (round % (devices.length - 1))) % devices.length
      const source = await device.allocate('u32', length)
      const target = await devices[to]!.allocate('u32', length)
      const program = group.record((r) => r.copy(source, target))
      const first = (round * devices.length + from) * 100 + 1
      const calls: Promise<unknown>[] = []
      const reads: Promise<Uint32Array>[] = []
      for (let turn = 0; turn < 8; turn++) {
        calls.push(queue.write(source, new Uint32Array(length).fill(first + turn)), queue.run(program))
        reads.push(queue.read(target))
      }
      await Promise.all(calls)
      for (const [turn, data] of (await Promise.all(reads)).entries()) {
        const at = data.findIndex((value) => value !== first + turn)
        looked++
        if (at >= 0)
          wrong.push(
            `round ${round}, ${length} elements from ${from} to ${to}: element ${at} is ${data[at]} instead of ${first + turn}`,
          )
      }
      for (const owned of [program, source, target]) owned.destroy()
    }
const { leaks } = await group.destroy()
if (rank === 0) {
  for (const line of wrong.slice(0, 5)) console.log(line)
  console.log(`${looked - wrong.length} of ${looked} reads are right`)
}
if (wrong.length + leaks.length > 0) process.exitCode = 1
