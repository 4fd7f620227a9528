// What agreement costs a run: the lines that all ranks gather before and after it. Rank 0 prints medians in
// microseconds.
//   mpirun -n 4 node bench/agreement.ts [COUNT, default 2000]
import { openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { mpi } from '../src/mpi.ts'
import { mpiSession } from '../src/session.ts'

const count = Number(process.argv[2] ?? 2000)
const session = await mpiSession(undefined)
const median = (times: number[]) => times.toSorted((a, b) => a - b)[times.length >> 1]!
const measured = async (body: (turn: number) => Promise<unknown>) => {
  const times: number[] = []
  for (let turn = 0; turn < count; turn++) {
    const start = performance.now()
    await body(turn)
    if (turn >= count / 10) times.push((performance.now() - start) * 1000)
  }
  return Math.round(median(times) * 10) / 10
}

const both = await measured(async (turn) => {
  await session.gather(`[${turn},"0123456789abcdef","runs \\"program 1\\" 1 times",{}]`)
  await session.gather(`[${turn},"0123456789abcdef","runs \\"program 1\\" 1 times",{"seconds":${turn % 7}}]`)
})
const group = await openGroup({ backends: [mpi(referenceBackend())] })
const program = group.record(() => {})
const run = await measured(() => group.queue.run(program))
if (session.rank === 0)
  console.log(
    JSON.stringify({ ranks: session.ranks.length, agreementMicroseconds: both, emptyRunMicroseconds: run }),
  )
program.destroy()
await group.destroy()
