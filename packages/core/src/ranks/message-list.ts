import { regionByteLength } from '../plan/byte-region.ts'
import type { ByteRegion, PlanMessage } from '../plan/plan.ts'
import { emptyHash, type Hash, hashDigits, hashText } from './rolling-hash.ts'

/** A message as one of its two ranks recorded it; both must record the same. */
export interface ListedMessage {
  readonly byteLength: number
  /** The label on this rank; not compared, since default labels are local. */
  readonly label: string
}

/** The messages of one rank's part of a program, by sender and receiver, in recorded order. */
export class MessageList {
  readonly #rank: number
  readonly #program: number
  readonly #pairs = new Map<string, { messages: ListedMessage[]; hash: Hash }>()
  #sums: Hash = [0, 0]

  constructor(rank: number, program: number) {
    this.#rank = rank
    this.#program = program
  }

  /** Adds a message, and returns the members of its command. */
  add(
    kind: PlanMessage['kind'],
    peer: number,
    label: string,
    region?: ByteRegion,
  ): Pick<PlanMessage, 'kind' | 'peer' | 'program' | 'ordinal'> {
    const pair = kind === 'send' ? `${this.#rank} to ${peer}` : `${peer} to ${this.#rank}`
    let listed = this.#pairs.get(pair)
    if (listed === undefined) {
      listed = { messages: [], hash: emptyHash }
      this.#pairs.set(pair, listed)
    }
    const byteLength = region === undefined ? 0 : regionByteLength(region)
    const ordinal = listed.messages.length
    listed.messages.push({ byteLength, label })
    listed.hash = hashText(listed.hash, `${byteLength}`)
    const [high, low] = hashText(emptyHash, `${pair} ${ordinal} ${byteLength}`)
    const sign = kind === 'send' ? 1 : -1
    this.#sums = [(this.#sums[0] + sign * high) >>> 0, (this.#sums[1] + sign * low) >>> 0]
    return { kind, peer, program: this.#program, ordinal }
  }

  get isEmpty(): boolean {
    return this.#pairs.size === 0
  }

  /** Sums to zero over all ranks (modulo 2^32) if each message has both its parts. */
  get balance(): Hash {
    return this.#sums
  }

  /** A digest of the messages of each pair of ranks, by "sender to receiver". */
  digests(): Record<string, string> {
    return Object.fromEntries([...this.#pairs].map(([pair, { hash }]) => [pair, hashDigits(hash)]))
  }

  of(pair: string): readonly ListedMessage[] {
    return this.#pairs.get(pair)?.messages ?? []
  }
}

/** A sentence about the first difference between two ranks' lists of the messages from one to the other. */
export function firstDifference(
  pair: string,
  sent: readonly ListedMessage[],
  received: readonly ListedMessage[],
): string {
  const [sender, receiver] = pair.split(' to ')
  const nameOf = (ordinal: number) => `Message ${ordinal} from rank ${sender} to rank ${receiver}`
  const recordedBy = (side: 'sender' | 'receiver', ordinal: number, { byteLength, label }: ListedMessage) =>
    `${nameOf(ordinal)}, ${byteLength} bytes by "${label}", is recorded by the ${side} alone.`
  for (const [ordinal, out] of sent.entries()) {
    const into = received[ordinal]
    if (into === undefined) return recordedBy('sender', ordinal, out)
    if (out.byteLength !== into.byteLength)
      return `${nameOf(ordinal)} has ${out.byteLength} bytes by "${out.label}" of the sender and ${into.byteLength} bytes by "${into.label}" of the receiver.`
  }
  const extra = received[sent.length]
  if (extra !== undefined) return recordedBy('receiver', sent.length, extra)
  return `The messages from rank ${sender} to rank ${receiver} differ.`
}
