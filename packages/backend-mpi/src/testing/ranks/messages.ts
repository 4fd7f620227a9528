// Every rank: gathers, deliveries and messages of all shapes, through the addon alone.
import { expect } from 'vitest'
import type { NativeMessage } from '../../native-addon.ts'
import { mpiSession } from '../../session.ts'

const session = await mpiSession(undefined)
const { addon, rank } = session
const size = session.ranks.length
const group = session.newOpening().beginGroup().numberOf('group')
await addon.openGroup(group)
let key = 0

// Equal messages arrive once with the lowest rank, in ascending order; keys are matched regardless of the
// order of the calls.
const keys = [key++, key++, key++]
const calls = (rank % 2 === 0 ? keys : keys.toReversed()).map(
  async (k) => [k, await addon.gather(group, k, k === keys[1] ? `rank ${rank}` : `all say ${k}`)] as const,
)
const said = new Map(await Promise.all(calls))
expect(said.get(keys[0]!)).toEqual([{ rank: 0, message: `all say ${keys[0]}`, number: 0 }])
expect(said.get(keys[1]!)).toEqual(
  Array.from({ length: size }, (_, other) => ({ rank: other, message: `rank ${other}`, number: 0 })),
)
const long = await addon.gather(group, key++, `${rank % 2} `.repeat(100_000))
expect(long.map((entry) => [entry.rank, entry.message.length])).toEqual(
  Array.from({ length: Math.min(size, 2) }, (_, other) => [other, 200_000]),
)

// The thread continues while it is awake, and sleeps again.
for (const milliseconds of [20, 0]) {
  addon.stayAwake(milliseconds)
  expect(await addon.gather(group, key++, 'awake')).toEqual([{ rank: 0, message: 'awake', number: 0 }])
}

/** The bytes that a rank delivers; each differs from its neighbours and from those of other ranks. */
function pattern(byteLength: number, from: number): Uint8Array {
  const bytes = new Uint8Array(byteLength)
  for (let i = 0; i < byteLength; i++) bytes[i] = (i * 31 + from) & 255
  return bytes
}

// Deliveries: from each rank to all, and to one, of sizes below and above a piece.
for (const byteLength of [1, 4096, 9_000_001])
  for (let from = 0; from < size; from++) {
    const bytes = new Uint8Array(byteLength)
    if (rank === from) bytes.set(pattern(byteLength, from))
    await addon.deliver(group, key++, from, -1, bytes)
    expect(Buffer.compare(bytes, pattern(byteLength, from))).toBe(0)
    const to = (from + 1) % size
    const one = Uint8Array.of(rank === from ? 77 : 0)
    const number = key++
    if (to !== from && (rank === from || rank === to)) await addon.deliver(group, number, from, to, one)
    if (rank === to || rank === from) expect(one[0]).toBe(to === from ? one[0] : 77)
  }

// A ring of messages, repeated: each repetition forwards what the previous one received. The rows have gaps
// on one side only.
if (size > 1)
  for (const [rows, rowByteLength, rowByteStride] of [
    [1, 8, 8],
    [7, 3, 11],
    [2201, 4000, 4100],
  ] as const) {
    const strided = new ArrayBuffer(rows * rowByteStride)
    const dense = new ArrayBuffer(rows * rowByteLength)
    const byteLength = rows * rowByteLength
    const next = (rank + 1) % size
    const before = (rank + size - 1) % size
    new Uint8Array(dense).fill(rank)
    const shape = (memory: ArrayBuffer, gaps: boolean) =>
      gaps
        ? { memory, byteOffset: 0, rows, rowByteLength, rowByteStride }
        : { memory, byteOffset: 0, rows: 1, rowByteLength: byteLength, rowByteStride: byteLength }
    const message = (
      kind: 'send' | 'receive',
      peer: number,
      rest: ReturnType<typeof shape>,
    ): NativeMessage => ({ kind, peer, tag: 5, after: [], afterPrevious: [], ...rest })
    // Repetition: send dense; receive into the rows; a segment copies the rows to the dense memory.
    const nodes = addon.prepare([
      { kind: 'segment', after: [1, 2], afterPrevious: [] },
      { ...message('send', next, shape(dense, false)), afterPrevious: [0] },
      { ...message('receive', before, shape(strided, true)), afterPrevious: [0] },
    ])
    const times = 2 * size + 1
    const run = key++
    const issue = (node: number, _: number, count: number) => {
      const [from, to] = [new Uint8Array(strided), new Uint8Array(dense)]
      for (let row = 0; row < rows; row++)
        to.set(from.subarray(row * rowByteStride, row * rowByteStride + rowByteLength), row * rowByteLength)
      addon.segmentCompleted(group, run, node, count)
    }
    const { repetitions } = await addon.run(group, run, nodes, times, issue, [], () => {})
    expect(repetitions).toBe(times)
    const expected = (((rank - times) % size) + size) % size
    expect(Buffer.compare(new Uint8Array(dense), new Uint8Array(byteLength).fill(expected))).toBe(0)
  }

// A sender with a constant source gets at most two repetitions ahead of a receiver that waits for its own
// work.
const [run, checked] = [key++, key++]
if (size > 1 && rank < 2) {
  const memory = new ArrayBuffer(8)
  const message = { memory, byteOffset: 0, rows: 1, rowByteLength: 8, rowByteStride: 8, tag: 1 }
  let issued = 0
  const nodes = addon.prepare(
    rank === 0
      ? [
          { kind: 'segment', after: [1], afterPrevious: [] },
          { kind: 'send', peer: 1, ...message, after: [], afterPrevious: [] },
        ]
      : [
          { kind: 'segment', after: [], afterPrevious: [1] },
          { kind: 'receive', peer: 0, ...message, after: [0], afterPrevious: [] },
        ],
  )
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const issue = async (node: number, _: number, count: number) => {
    issued++
    if (rank === 1 && issued > 3) await held
    addon.segmentCompleted(group, run, node, count)
  }
  const done = addon.run(group, run, nodes, 20, issue, [], () => {})
  await new Promise((resolve) => setTimeout(resolve, 300))
  // Receives 0 to 2 are done: sends 3 and 4 may precede their credit.
  if (rank === 0) expect(issued).toBeLessThanOrEqual(5)
  await addon.deliver(group, checked, 0, 1, new Uint8Array(1))
  release()
  expect((await done).repetitions).toBe(20)
}

if (rank === 0) console.log('all messages are right')
