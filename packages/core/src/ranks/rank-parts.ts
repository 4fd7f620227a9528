import type { GroupDevice } from '../group/group-device.ts'
import type { GroupState } from '../group/group-state.ts'
import type { CommandAccesses } from '../plan/hazards.ts'
import type { ByteRegion } from '../plan/plan.ts'
import { type CommandDraft, PlanBuilder } from '../plan/plan-builder.ts'
import {
  type AnyView,
  type CheckedCopy,
  copyCommand,
  firstLocal,
  type Recording,
} from '../recording/recording.ts'
import { MessageList } from './message-list.ts'

/**
 * Creates the parts of recorded commands that one of several ranks executes. A copy between two ranks is a
 * message; memory that every rank has is written on one rank and passed on along a binomial tree. With the
 * serial schedule, messages without bytes order consecutive commands on different ranks.
 */
export class RankParts implements Recording {
  readonly plan: PlanBuilder
  readonly messages: MessageList
  /** Checks the commands of other ranks. */
  readonly #elsewhere: PlanBuilder
  readonly #rank: number
  readonly #count: number
  readonly #devices: readonly GroupDevice[]
  readonly #serial: boolean
  /** The device that messages of host memory run on: the rank's first, or -1 if it has none. */
  readonly #device: number
  /** With the serial schedule, the ranks of the first and of the last command so far. */
  #first: readonly number[] | undefined
  #last: readonly number[] | undefined

  /** `number` is the number of the program in the group. */
  constructor(group: GroupState, devices: readonly GroupDevice[], number: number, serial: boolean) {
    this.plan = new PlanBuilder(group)
    this.#elsewhere = new PlanBuilder(group, false)
    this.messages = new MessageList(group.rank, number)
    this.#rank = group.rank
    this.#count = group.rankCount
    this.#devices = devices
    this.#device = firstLocal(devices)
    this.#serial = serial
  }

  touches(devices: readonly GroupDevice[]): boolean {
    return this.#serial || devices.some(({ local }) => local)
  }

  planOf(device: GroupDevice): PlanBuilder {
    this.#enter([device.rank])
    return device.local ? this.plan : this.#elsewhere
  }

  regionOf(view: AnyView): ByteRegion {
    return (view.buffer.local ? this.plan : this.#elsewhere).region(view.buffer, view)
  }

  fence({ ordinal, local }: GroupDevice): void {
    if (local) this.plan.fence(ordinal)
  }

  /**
   * Records that the next command runs on these ranks. Every rank calls it for every command of a serial
   * schedule.
   */
  #enter(ranks: readonly number[]): void {
    if (!this.#serial) return
    if (this.#last !== undefined) this.#passOrder(this.#last, ranks)
    this.#first ??= ranks
    this.#last = ranks
  }

  /** Called after the last command, which the first command of the next repetition follows. */
  finish(): void {
    if (this.#first !== undefined && this.#last !== undefined) this.#passOrder(this.#last, this.#first)
  }

  /**
   * Each region is valid only if this rank has the memory; a buffer's rank is undefined if every rank has a
   * copy.
   */
  copy(copy: CheckedCopy): void {
    const { label, sourceView, targetView, from, to } = copy
    const rank = this.#rank
    const command = copyCommand(copy, this.#devices)
    const [sourceRank, targetRank] = [sourceView.buffer.rank, targetView.buffer.rank]
    const deviceOf = ({ buffer }: AnyView) => buffer.device?.ordinal ?? this.#device
    const local: CommandAccesses = { reads: [from], writes: [to] }
    if (targetRank === undefined) {
      this.#enter(Array.from({ length: this.#count }, (_, i) => i))
      if (sourceRank === undefined || sourceRank === rank) this.plan.add(command, local)
      if (sourceRank !== undefined) this.#passOn(sourceRank, to, label)
      return
    }
    const sender = sourceRank ?? targetRank
    this.#enter(sender === targetRank ? [sender] : [sender, targetRank])
    if (sender === targetRank) {
      if (rank === targetRank) this.plan.add(command, local)
    } else if (rank === sender) this.#message('send', targetRank, label, deviceOf(sourceView), from)
    else if (rank === targetRank) this.#message('receive', sender, label, deviceOf(targetView), to)
  }

  /**
   * Sends the root's copy to all other ranks: each rank receives once and sends to at most ceil(log2(count))
   * others.
   */
  #passOn(root: number, region: ByteRegion, label: string): void {
    const count = this.#count
    const place = (this.#rank - root + count) % count
    const rankAt = (other: number) => (other + root) % count
    const span = place === 0 ? 2 ** Math.ceil(Math.log2(count)) : place & -place
    if (place !== 0) this.#message('receive', rankAt(place - span), label, this.#device, region)
    let beside = false
    for (let step = span / 2; step >= 1; step /= 2) {
      if (place + step >= count) continue
      this.#message('send', rankAt(place + step), label, this.#device, region, beside)
      beside = true
    }
  }

  #passOrder(from: readonly number[], to: readonly number[]): void {
    let beside = false
    const token = (kind: 'send' | 'receive', peer: number) => {
      this.#message(
        kind,
        peer,
        `order ${kind === 'send' ? 'to' : 'from'} rank ${peer}`,
        this.#device,
        undefined,
        beside,
      )
      beside = true
    }
    if (from.includes(this.#rank)) for (const peer of to) if (peer !== this.#rank) token('send', peer)
    if (to.includes(this.#rank)) for (const peer of from) if (peer !== this.#rank) token('receive', peer)
  }

  #message(
    kind: 'send' | 'receive',
    peer: number,
    label: string,
    device: number,
    region: ByteRegion | undefined,
    beside = false,
  ): void {
    const touched = region === undefined ? [] : [region]
    const draft: CommandDraft = {
      ...this.messages.add(kind, peer, label, region),
      label,
      device,
      ...(region !== undefined && { region }),
    }
    const accesses = kind === 'send' ? { reads: touched, writes: [] } : { reads: [], writes: touched }
    this.plan.add(draft, accesses, beside)
  }
}
