import { type GpuError, invalid } from '../errors.ts'
import { errorOf, type Failure, failureOf } from './all-or-none.ts'
import { firstDifference, type ListedMessage, type MessageList } from './message-list.ts'
import type { AgreedRun, KeyedMessage, RankMessage, Ranks } from './ranks.ts'
import { emptyHash, hashDigits, hashText } from './rolling-hash.ts'

/** The outcome of a call on one rank. */
interface Outcome {
  readonly failure?: Failure | undefined
  /** For a run: the clock that timed it here. */
  readonly clock?: 'device' | 'host' | undefined
  /** For a run: whether it has a signal here. */
  readonly abortable?: boolean | undefined
  /** The rank and its `MessageList.balance`, if it has messages. */
  readonly balance?: readonly [rank: number, high: number, low: number] | undefined
}

/** The outcome of a call on all ranks together. */
export interface Agreed {
  /** Whether all ranks have the same outcome. */
  readonly alike: boolean
  /** The longest time of all ranks. */
  readonly seconds: number
  readonly clock: 'device' | 'host'
  /** Whether a run has a signal on any rank. */
  readonly abortable: boolean
}

/** A call, numbered when it is made. */
export interface NumberedCall {
  /** Those of the group. */
  readonly calls: RankCalls
  readonly number: number
  readonly hash: string
  readonly text: string
  readonly firstKey: number
}

export interface OwnOutcome extends Pick<Outcome, 'clock' | 'abortable'> {
  /** For a run: how long it took here. */
  readonly seconds?: number | undefined
  /** The error of the call on this rank. */
  readonly error?: unknown
  /** Compares the messages of a program between the ranks. */
  readonly messages?: MessageList | undefined
}

type Entry = readonly [number: number, text: string]
interface Line extends Pick<NumberedCall, 'number' | 'hash' | 'text'> {
  readonly outcome: Outcome
}

/** Each agreement has one key for the outcomes and two for finding a difference. */
const keysAnAgreement = 3
/** How many calls since the last agreement are kept, to find the first one that differs. */
const historyLength = 1000

/** The outcomes that a rank reports for a run that native code begins and ends. */
const ownAtStart: OwnOutcome = { abortable: false }
const ownAtEnd: OwnOutcome = { clock: 'device' }

/**
 * The calls of a group over several ranks: numbered when they are made, and compared between the ranks
 * whenever one has an outcome. `diverged` is called when the ranks turn out to make different calls; the
 * group is unusable from then on.
 */
export class RankCalls {
  readonly ranks: Ranks
  readonly #diverged: (error: GpuError) => void
  #count = 0
  #keys = 0
  #hash = emptyHash
  /** Calls since the last one that is known to be the same on all ranks. */
  #history: Entry[] = []

  constructor(ranks: Ranks, diverged: (error: GpuError) => void) {
    this.ranks = ranks
    this.#diverged = diverged
  }

  /**
   * Numbers a call. `agreements` is the number of keys that it may need for agreements and for
   * `Ranks.deliver`.
   */
  number(text: string, agreements = 0): NumberedCall {
    const number = this.#count++
    this.#hash = hashText(this.#hash, text)
    this.#history.push([number, text])
    if (this.#history.length > historyLength) this.#history.shift()
    const firstKey = this.#keys
    this.#keys += keysAnAgreement * agreements
    return { calls: this, number, hash: hashDigits(this.#hash), text, firstKey }
  }

  /**
   * Called after an attempt that ran out of memory on any rank, as one agreement of the call: makes all ranks
   * give back the memory that they have freed. `earlier` are this rank's earlier calls, which may still use
   * some of it. Resolves to false if the ranks keep no freed memory, so that the call fails.
   */
  async giveBackMemory(
    call: NumberedCall,
    agreement: number,
    earlier: readonly Promise<unknown>[],
  ): Promise<boolean> {
    const { freedMemory } = this.ranks
    if (freedMemory === undefined) return false
    await Promise.allSettled(earlier)
    const used = await freedMemory.letGo()
    const key = this.#key(call, agreement)
    const said = await this.ranks.gather(key, used, 0, call.text)
    await freedMemory.giveBack(said.map(({ message }) => message))
    return true
  }

  /** `Ranks.deliver` with the key of the call's second agreement. */
  deliver(
    call: NumberedCall,
    from: number,
    to: number | 'all',
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<void> {
    return this.ranks.deliver(this.#key(call, 1), from, to, bytes)
  }

  /** The key of one of the agreements reserved for a call. */
  #key(call: NumberedCall, agreement: number): number {
    return call.firstKey + keysAnAgreement * agreement
  }

  /**
   * Gathers the outcomes of a call. Throws the same error on every rank: `validation` if the ranks make
   * different calls or record different messages, otherwise the failure of the lowest rank that failed.
   * `beginsRun` as for `Ranks.gather`.
   */
  async agree(call: NumberedCall, own: OwnOutcome = {}, agreement = 0, beginsRun = false): Promise<Agreed> {
    const { key, message } = this.#saying(call, own, agreement)
    const said = await this.ranks.gather(key, message, own.seconds, call.text, beginsRun)
    return this.#agreed(call, own, agreement, said)
  }

  /** Called after an agreement that begins a run, when it has ended on this rank or does not take place. */
  runEnded(call: NumberedCall): void {
    this.ranks.runEnded?.(this.#key(call, 0))
  }

  /**
   * For a run that has two agreements reserved and no signal: does `agree`, the run and `agree` if native
   * code can do all three (`Ranks.runAgreed`). `heard` interprets the messages of either agreement.
   */
  runAgreed(
    call: NumberedCall,
    begin: (start: KeyedMessage, end: KeyedMessage) => AgreedRun | undefined,
  ): AgreedRun | undefined {
    return begin(this.#saying(call, ownAtStart, 0), this.#saying(call, ownAtEnd, 1))
  }

  /** The outcome of an agreement of `runAgreed`; throws as `agree` does. */
  heard(call: NumberedCall, agreement: 0 | 1, said: readonly RankMessage[]): Promise<Agreed> {
    return this.#agreed(call, agreement === 0 ? ownAtStart : ownAtEnd, agreement, said)
  }

  #saying(call: NumberedCall, own: OwnOutcome, agreement: number): KeyedMessage {
    const { number, hash, text } = call
    const line: Line = { number, hash, text, outcome: this.#outcome(own) }
    return { key: this.#key(call, agreement), message: JSON.stringify(line), doing: text }
  }

  /** Combines the messages in `said`, which include this rank's. */
  async #agreed(
    call: NumberedCall,
    own: OwnOutcome,
    agreement: number,
    said: readonly RankMessage[],
  ): Promise<Agreed> {
    const { number, hash, text } = call
    const alike = said.length === 1 && own.error === undefined
    if (alike && own.messages === undefined) {
      this.#forgetHistory(number)
      return {
        alike,
        seconds: said[0]!.number,
        clock: own.clock ?? 'device',
        abortable: own.abortable ?? false,
      }
    }
    const key = this.#key(call, agreement)
    const lines = said.map((one) => ({ rank: one.rank, line: JSON.parse(one.message) as Line }))
    if (lines.some(({ line }) => line.number !== number || line.hash !== hash || line.text !== text))
      throw await this.#differentCalls(key + 1)
    this.#forgetHistory(number)
    const outcomes = lines.map(({ line }) => line.outcome)
    if (own.messages !== undefined && !isBalanced(outcomes))
      throw await this.#differentMessages(key + 1, text, own.messages)
    for (const { rank, line } of lines)
      if (line.outcome.failure !== undefined) throw errorOf(rank, line.outcome.failure, own.error)
    return {
      alike,
      seconds: said.reduce((most, { number }) => Math.max(most, number), 0),
      clock: outcomes.some(({ clock }) => clock === 'host') ? 'host' : 'device',
      abortable: outcomes.some(({ abortable }) => abortable === true),
    }
  }

  /** Forgets the calls up to this one, which are the same on all ranks. */
  #forgetHistory(number: number): void {
    this.#history = this.#history.filter(([other]) => other > number)
  }

  #outcome({ error, clock, abortable, messages }: OwnOutcome): Outcome {
    const listed = messages !== undefined && !messages.isEmpty
    return {
      failure: error === undefined ? undefined : failureOf(error),
      clock,
      abortable,
      balance: listed ? [this.ranks.rank, ...messages.balance] : undefined,
    }
  }

  /** Gathers every rank's calls since the last agreement; the error names the first that differs. */
  async #differentCalls(key: number): Promise<GpuError> {
    const said = await this.ranks.gather(key, JSON.stringify(this.#history))
    const histories = said.map(({ rank, message }) => ({
      rank,
      calls: new Map(JSON.parse(message) as Entry[]),
    }))
    const numbers = histories.flatMap(({ calls }) => [...calls.keys()])
    const start = histories.reduce((most, { calls }) => Math.max(most, Math.min(...calls.keys())), 0)
    const rule = 'Every rank must make the same calls in the same order.'
    for (const number of [...new Set(numbers)].sort((a, b) => a - b)) {
      if (number < start) continue
      const made = histories.map(({ rank, calls }) => ({ rank, text: calls.get(number) }))
      const [first] = made
      const other = made.find(({ text }) => text !== first?.text)
      if (first === undefined || other === undefined) continue
      const call = ({ rank, text }: { rank: number; text: string | undefined }) =>
        `rank ${rank} ${text ?? 'makes no call'}`
      return this.#end(
        `The ranks made different calls. In call ${number}, ${call(first)}, but ${call(other)}. ${rule}`,
      )
    }
    return this.#end(
      `The ranks made different calls. The first difference is more than ${historyLength} calls back. ${rule}`,
    )
  }

  /**
   * Compares digests by sender and receiver; the two ranks of the first pair that differs then exchange their
   * lists.
   */
  async #differentMessages(key: number, text: string, messages: MessageList): Promise<GpuError> {
    const { rank } = this.ranks
    const digests = new Map<string, string[]>()
    for (const { message } of await this.ranks.gather(key, JSON.stringify([rank, messages.digests()]))) {
      const [, said] = JSON.parse(message) as [number, Record<string, string>]
      for (const [pair, digest] of Object.entries(said))
        digests.set(pair, [...(digests.get(pair) ?? []), digest])
    }
    const pairs = [...digests].filter(([, [a, b]]) => a !== b).map(([pair]) => pair)
    const [pair = ''] = pairs.sort()
    const lists = new Map<number, readonly ListedMessage[]>()
    for (const { message } of await this.ranks.gather(key + 1, JSON.stringify([rank, messages.of(pair)]))) {
      const [from, list] = JSON.parse(message) as [number, ListedMessage[]]
      lists.set(from, list)
    }
    const [sent = [], received = []] = pair.split(' to ').map((from) => lists.get(Number(from)))
    const difference = firstDifference(pair, sent, received)
    return this.#end(
      `The ranks recorded different messages in what each calls "${text}". ${difference} A copy between ranks must be recorded by both ranks.`,
    )
  }

  #end(message: string): GpuError {
    const error = invalid(message)
    this.ranks.diverged()
    this.#diverged(error)
    return error
  }
}

function isBalanced(outcomes: readonly Outcome[]): boolean {
  let [high, low] = [0, 0]
  for (const { balance } of outcomes) {
    high = (high + (balance?.[1] ?? 0)) >>> 0
    low = (low + (balance?.[2] ?? 0)) >>> 0
  }
  return high === 0 && low === 0
}
