import type { RankMessage } from '@tandem-gpu/core/backend'

/** The part of the session that openings need. */
export interface GatheringSession {
  gatherIn(group: number, key: number, message: string, what: string): Promise<readonly RankMessage[]>
  forget(group: number): void
}

/**
 * The number of groups that can be opened over the adapters of one call, and how many group numbers each
 * needs.
 */
const groupsAnOpening = 2 ** 18
const numbersAGroup = 4

/**
 * One call of `adapters()` and the groups opened from it. Each opening has its own group numbers, and so its
 * own keys, because openings may overlap in any order, which may differ between ranks. A call gets its number
 * when it is made, which is the same on every rank.
 */
export class Opening {
  readonly #session: GatheringSession
  readonly #number: number
  #groups = 1

  constructor(session: GatheringSession, number: number) {
    this.#session = session
    this.#number = number
  }

  /** Gathers the adapter reports of all ranks. */
  gatherAdapters(message: string): Promise<readonly RankMessage[]> {
    const number = this.#firstNumber(0)
    const said = this.#session.gatherIn(number, 0, message, 'looks for devices, to open a group')
    const forget = () => this.#session.forget(number)
    said.then(forget, forget)
    return said
  }

  /** One group over these adapters. All ranks begin it in the same order. */
  beginGroup(): GroupOpening {
    return new GroupOpening(this.#session, this.#firstNumber(this.#groups++))
  }

  #firstNumber(group: number): number {
    return (this.#number * groupsAnOpening + group) * numbersAGroup
  }
}

/** The group numbers of one group that is being opened: each identifies gathers, deliveries and runs. */
export class GroupOpening {
  readonly #session: GatheringSession
  readonly #first: number
  #keys = 0

  constructor(session: GatheringSession, first: number) {
    this.#session = session
    this.#first = first
  }

  /**
   * Resolves on every rank to the messages of all ranks, each once, by rank. All ranks make these calls in
   * the same order.
   */
  gather(message: string): Promise<readonly RankMessage[]> {
    return this.#session.gatherIn(this.#first, this.#keys++, message, 'opens a group')
  }

  numberOf(what: 'whole' | 'parts' | 'group'): number {
    return this.#first + { whole: 1, parts: 2, group: 3 }[what]
  }

  /** Called when the group is open or opening it has failed. */
  end(): void {
    this.#session.forget(this.#first)
  }
}
