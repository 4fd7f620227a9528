import type { ByteRegion } from '@tandem-gpu/core/backend'
import type { CudaCommand, ExchangedMessage } from '../cuda-plan.ts'
import type { PlanOfExchanges } from '../lower-messages.ts'
import { unroll } from '../unrolling.ts'

interface Node {
  readonly rank: number
  readonly command: CudaCommand
  readonly next: number[]
  waiting: number
  /** The number of an exchange's messages that are in progress or have not begun. */
  messages: number
  later: ExchangedMessage[]
}

interface Side {
  readonly node: number
  readonly region: ByteRegion
}

/**
 * Executes `repetitions` of the plans of all ranks, one step at a time in a random order that the edges
 * allow: a command, the beginning of an exchange, or one message that has begun on both sides. As in NCCL,
 * the first messages of an exchange between two ranks in one direction precede second ones, with all
 * resulting delays. `memoryOf` returns the u32 values of a rank's buffer. Returns false if nothing can
 * proceed any more.
 */
export function simulateExchanges(
  plans: readonly PlanOfExchanges[],
  repetitions: number,
  memoryOf: (rank: number, buffer: number) => Uint32Array,
  random: () => number,
): boolean {
  const nodes: Node[] = []
  const staging = plans.map(({ stagingByteLength }) => new Uint32Array(stagingByteLength / 4).fill(0xdead))
  for (const [rank, { plan }] of plans.entries()) {
    const first = nodes.length
    const items = unroll(plan.commands, repetitions)
    for (const { command, after } of items)
      nodes.push({ rank, command, next: [], waiting: new Set(after).size, messages: 0, later: [] })
    for (const [position, { after }] of items.entries())
      for (const other of new Set(after)) nodes[first + other]!.next.push(first + position)
  }
  const ready = nodes.flatMap(({ waiting }, node) => (waiting === 0 ? [node] : []))
  /** By "sender receiver", in the order in which the exchanges have begun. */
  const channels = new Map<string, { readonly sends: Side[]; readonly receives: Side[] }>()
  let done = 0
  const finish = (node: number) => {
    done += 1
    for (const follower of nodes[node]!.next) if (--nodes[follower]!.waiting === 0) ready.push(follower)
  }
  const indices = (rank: number, { buffer, byteOffset, rows, rowByteLength, rowByteStride }: ByteRegion) => {
    const memory = buffer === plans[rank]!.plan.buffers.length ? staging[rank]! : memoryOf(rank, buffer)
    const at = Array.from({ length: (rows * rowByteLength) / 4 }, (_, index) => {
      const [row, column] = [Math.floor((index * 4) / rowByteLength), (index * 4) % rowByteLength]
      return (byteOffset + row * rowByteStride + column) / 4
    })
    return { memory, at }
  }
  const move = (from: number, source: ByteRegion, to: number, target: ByteRegion) => {
    const [read, written] = [indices(from, source), indices(to, target)]
    for (const [position, index] of written.at.entries())
      written.memory[index] = read.memory[read.at[position]!]!
  }
  const beginMessages = (node: number) => {
    const own = nodes[node]!
    const messages = own.later
    own.later = []
    const begun = new Set<Side[]>()
    for (const message of messages) {
      const { kind, peer, buffer, byteOffset, byteLength } = message
      const key = kind === 'send' ? `${own.rank} ${peer}` : `${peer} ${own.rank}`
      const channel = channels.get(key) ?? { sends: [], receives: [] }
      channels.set(key, channel)
      const sides = channel[kind === 'send' ? 'sends' : 'receives']
      if (begun.has(sides)) {
        own.later.push(message)
        continue
      }
      begun.add(sides)
      own.messages += 1
      const region = { buffer, byteOffset, rows: 1, rowByteLength: byteLength, rowByteStride: byteLength }
      sides.push({ node, region })
    }
  }
  for (;;) {
    const open = [...channels].filter(([, { sends, receives }]) => sends.length > 0 && receives.length > 0)
    const choice = Math.floor(random() * (ready.length + open.length))
    if (choice < ready.length) {
      const [node] = ready.splice(choice, 1)
      const { rank, command } = nodes[node!]!
      if (command.kind === 'exchange') {
        nodes[node!]!.later = [...command.messages]
        beginMessages(node!)
        continue
      }
      if (command.kind === 'fill') {
        const { memory, at } = indices(rank, command.target)
        for (const index of at) memory[index] = command.pattern
      } else if (command.kind !== 'dispatch') move(rank, command.source, rank, command.target)
      finish(node!)
      continue
    }
    const channel = open[choice - ready.length]?.[1]
    if (channel === undefined) return done === nodes.length
    const [send, receive] = [channel.sends.shift()!, channel.receives.shift()!]
    move(nodes[send.node]!.rank, send.region, nodes[receive.node]!.rank, receive.region)
    for (const { node } of [send, receive]) {
      if (--nodes[node]!.messages > 0) continue
      if (nodes[node]!.later.length === 0) finish(node)
      else beginMessages(node)
    }
  }
}
