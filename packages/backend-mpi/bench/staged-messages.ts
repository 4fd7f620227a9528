// The same messages as plain-messages.cpp through Tandem: a program whose only command is a copy from one
// rank's host memory to another's.
//   mpirun -n 2 node staged-messages.ts BYTES COUNT
import { mpiSession } from '../src/session.ts'

const [byteLength, count] = process.argv.slice(2).map(Number)
const session = await mpiSession(undefined)
const { addon, rank } = session
const memory = new ArrayBuffer(byteLength!)
new Uint8Array(memory).fill(1)
const nodes = addon.prepare([
  {
    kind: rank === 0 ? 'send' : 'receive',
    peer: 1 - rank,
    tag: 0,
    memory,
    byteOffset: 0,
    rows: 1,
    rowByteLength: byteLength!,
    rowByteStride: byteLength!,
    after: [],
    afterPrevious: [],
  },
])
const group = session.newGroup(() => {})
const run = async (key: number, times: number) => {
  await session.gather('ready')
  return addon.run(
    group,
    key,
    nodes,
    times,
    () => {},
    [],
    () => {},
  )
}
await run(0, 1)
const { seconds } = await run(1, count!)
if (rank === 1) console.log((seconds / count!).toFixed(9))
