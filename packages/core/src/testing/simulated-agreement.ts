import { GpuError } from '../errors.ts'
import type { RankMessage, Ranks } from '../ranks/ranks.ts'

interface Said {
  readonly message: string
  readonly number: number
}

/** What has been said under one key. */
interface Gathering {
  readonly messages: Map<number, Said>
  readonly waiting: { resolve(said: RankMessage[]): void; reject(error: GpuError): void }[]
}

interface Delivery {
  bytes: Uint8Array | undefined
  readonly waiting: { take(bytes: Uint8Array): void; reject(error: GpuError): void; readonly from: number }[]
}

/** `gather`, `deliver` and `leave` of ranks that share a process. */
export class SimulatedAgreement {
  readonly #count: number
  readonly #leaves: (rank: number, reason: string) => void
  readonly #gatherings = new Map<number, Gathering>()
  readonly #deliveries = new Map<number, Delivery>()
  readonly #left = new Set<number>()

  /** `leaves` is told of a rank that leaves with a reason. */
  constructor(count: number, leaves: (rank: number, reason: string) => void) {
    this.#count = count
    this.#leaves = leaves
  }

  of(rank: number): Ranks {
    return {
      rank,
      count: this.#count,
      gather: (key, message, number = 0) => this.#gather(rank, key, { message, number }),
      deliver: (key, from, to, bytes) => this.#deliver(rank, key, from, to, bytes),
      leave: (reason) => this.leave(rank, reason),
      interrupted: () => {},
      diverged: () => {},
    }
  }

  leave(rank: number, reason?: string): void {
    if (this.#left.has(rank)) return
    this.#left.add(rank)
    for (const { messages, waiting } of this.#gatherings.values())
      if (!messages.has(rank)) for (const { reject } of waiting) reject(leftError(rank))
    for (const { waiting } of this.#deliveries.values())
      for (const { from, reject } of waiting) if (from === rank) reject(leftError(rank))
    if (reason !== undefined) this.#leaves(rank, reason)
  }

  #gather(rank: number, key: number, said: Said): Promise<RankMessage[]> {
    let gathering = this.#gatherings.get(key)
    if (gathering === undefined) {
      gathering = { messages: new Map(), waiting: [] }
      this.#gatherings.set(key, gathering)
    }
    const { messages, waiting } = gathering
    if (messages.has(rank)) throw new TypeError(`rank ${rank} uses key ${key} twice`)
    messages.set(rank, said)
    const gone = [...this.#left].find((other) => !messages.has(other))
    if (gone !== undefined) return Promise.reject(leftError(gone))
    return new Promise((resolve, reject) => {
      waiting.push({ resolve, reject })
      if (messages.size < this.#count) return
      this.#gatherings.delete(key)
      const all = distinct(messages)
      // Ranks learn at different times.
      for (const each of waiting) setTimeout(() => each.resolve(all), 0)
    })
  }

  #deliver(
    rank: number,
    key: number,
    from: number,
    to: number | 'all',
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<void> {
    let delivery = this.#deliveries.get(key)
    if (delivery === undefined) {
      delivery = { bytes: undefined, waiting: [] }
      this.#deliveries.set(key, delivery)
    }
    if (rank === from) {
      delivery.bytes = bytes.slice()
      for (const { take } of delivery.waiting) take(delivery.bytes)
      return Promise.resolve()
    }
    if (to !== 'all' && to !== rank) throw new TypeError(`rank ${rank} takes no part in delivery ${key}`)
    if (delivery.bytes !== undefined) {
      bytes.set(delivery.bytes)
      return Promise.resolve()
    }
    if (this.#left.has(from)) return Promise.reject(leftError(from))
    return new Promise((resolve, reject) => {
      const take = (sent: Uint8Array) => {
        bytes.set(sent)
        resolve()
      }
      delivery.waiting.push({ take, reject, from })
    })
  }
}

function distinct(messages: ReadonlyMap<number, Said>): RankMessage[] {
  const found = new Map<string, RankMessage>()
  for (const rank of [...messages.keys()].sort((a, b) => a - b)) {
    const { message, number } = messages.get(rank)!
    const known = found.get(message) ?? { rank, message, number }
    found.set(message, { ...known, number: Math.max(known.number, number) })
  }
  return [...found.values()]
}

function leftError(rank: number): GpuError {
  return new GpuError('device-lost', `Rank ${rank} has left the group.`)
}
