import type { PlanMessage } from '../plan/plan.ts'

/** A rule of messages that a run does not keep, to show that it is needed. */
export type MessageRule =
  /** A send completes only when its bytes may be overwritten. */
  | 'source'
  /** A receive completes only when all bytes are in place. */
  | 'target'
  /** A send of repetition k + 2 waits until the receiver has taken that of repetition k. */
  | 'credit'
  /** Messages are known by program, pair, ordinal and repetition, not by the order of arrival. */
  | 'identity'

/** One part of a message that has begun. */
export interface MessageSide {
  readonly repetition: number
  /** The rows of its region, live. */
  readonly bytes: readonly Uint8Array[]
  /** The part completes, at some later time. */
  complete(): void
  completeNow(): void
  /** The bytes arrive at some later time. */
  arrives(act: () => void): void
}

/**
 * Room for messages of one ordinal that are on their way eagerly: one for even and one for odd repetitions.
 */
interface Slot {
  /** Whose messages have been put there and not been taken: one, unless the rule of credit is broken. */
  readonly repetitions: Set<number>
  /** What was put there last. */
  bytes: Uint8Array
}

/** What is under way under one name. */
interface Channel {
  readonly slots: [Slot, Slot]
  /** Rendezvous sends that have begun, and receives, by repetition. */
  readonly sends: Map<number, MessageSide>
  readonly receives: Map<number, MessageSide>
  /** Sends that wait for the receiver to take the message of two repetitions before. */
  held: MessageSide[]
  /** Repetitions that the receiver has taken. */
  readonly taken: Set<number>
  /** Begun sends and receives, for matching by arrival alone. */
  sent: number
  received: number
}

/** The messages of one run, by the rules of `PlanMessage` but the broken one. */
export class SimulatedMessages {
  readonly #eager: () => boolean
  readonly #broken: MessageRule | undefined
  readonly #channels = new Map<string, Channel>()

  constructor(eager: () => boolean, broken: MessageRule | undefined) {
    this.#eager = eager
    this.#broken = broken
  }

  send(sender: number, receiver: number, message: PlanMessage, side: MessageSide): void {
    const channel = this.#channel(sender, receiver, message)
    const given = this.#broken === 'identity' ? { ...side, repetition: channel.sent++ } : side
    if (this.#broken !== 'credit' && given.repetition >= 2 && !channel.taken.has(given.repetition - 2))
      channel.held.push(given)
    else this.#beginSend(channel, given)
  }

  receive(sender: number, receiver: number, message: PlanMessage, side: MessageSide): void {
    const channel = this.#channel(sender, receiver, message)
    const repetition = this.#broken === 'identity' ? channel.received++ : side.repetition
    channel.receives.set(repetition, side)
    if (this.#broken === 'target') side.completeNow()
    this.#match(channel, repetition)
  }

  #channel(sender: number, receiver: number, { program, ordinal }: PlanMessage): Channel {
    const name = `${program} ${sender} ${receiver} ${this.#broken === 'identity' ? '' : ordinal}`
    let channel = this.#channels.get(name)
    if (channel === undefined) {
      const slot = (): Slot => ({ repetitions: new Set(), bytes: new Uint8Array() })
      channel = {
        slots: [slot(), slot()],
        sends: new Map(),
        receives: new Map(),
        held: [],
        taken: new Set(),
        sent: 0,
        received: 0,
      }
      this.#channels.set(name, channel)
    }
    return channel
  }

  #beginSend(channel: Channel, side: MessageSide): void {
    if (this.#eager() || this.#broken === 'credit') {
      const slot = channel.slots[side.repetition % 2]!
      slot.bytes = joined(side.bytes)
      slot.repetitions.add(side.repetition)
      side.complete()
    } else {
      channel.sends.set(side.repetition, side)
      if (this.#broken === 'source') side.completeNow()
    }
    this.#match(channel, side.repetition)
  }

  /** Lets the bytes arrive once both parts have begun. */
  #match(channel: Channel, repetition: number): void {
    const receive = channel.receives.get(repetition)
    if (receive === undefined) return
    const send = channel.sends.get(repetition)
    const slot = channel.slots[repetition % 2]!
    if (send === undefined && !slot.repetitions.has(repetition)) return
    channel.receives.delete(repetition)
    channel.sends.delete(repetition)
    slot.repetitions.delete(repetition)
    receive.arrives(() => {
      const bytes = send === undefined ? slot.bytes : joined(send.bytes)
      scatter(bytes, receive.bytes)
      channel.taken.add(repetition)
      channel.taken.delete(repetition - 4)
      if (this.#broken !== 'target') receive.complete()
      if (send !== undefined && this.#broken !== 'source') send.complete()
      const held = channel.held
      channel.held = []
      for (const waiting of held)
        if (channel.taken.has(waiting.repetition - 2)) this.#beginSend(channel, waiting)
        else channel.held.push(waiting)
    })
  }
}

function joined(rows: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(rows.reduce((sum, row) => sum + row.byteLength, 0))
  let at = 0
  for (const row of rows) {
    bytes.set(row, at)
    at += row.byteLength
  }
  return bytes
}

/** What does not fit is dropped: only a broken rule gives the wrong number of bytes. */
function scatter(bytes: Uint8Array, rows: readonly Uint8Array[]): void {
  let at = 0
  for (const row of rows) {
    row.set(bytes.subarray(at, at + row.byteLength))
    at += row.byteLength
  }
}
