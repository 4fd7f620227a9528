import type { RankMessage } from '@tandem-gpu/core/backend'

/** What openings need of the session. */
export interface GatheringSession {
  gatherIn(group: number, key: number, message: string, what: string): Promise<readonly RankMessage[]>
  forget(group: number): void
}

/**
 * How many groups can be opened over the adapters that one call finds, and how many numbers of groups each
 * takes.
 */
const groupsAnOpening = 2 ** 18
const numbersAGroup = 4

/**
 * What follows from one call of `adapters()`. It has numbers of groups, and so keys, of its own: openings
 * that overlap do so in any order, which may differ between the ranks. The calls are numbered when they are
 * made, alike on all ranks.
 */
export class Opening {
  readonly #session: GatheringSession
  readonly #number: number
  #groups = 1

  constructor(session: GatheringSession, number: number) {
    this.#session = session
    this.#number = number
  }

  /** What all ranks say of their adapters. */
  gatherAdapters(message: string): Promise<readonly RankMessage[]> {
    return this.#session.gatherIn(this.#firstNumber(0), 0, message, 'looks for devices, to open a group')
  }

  /** One group over these adapters. All ranks begin it in the same order. */
  beginGroup(): GroupOpening {
    return new GroupOpening(this.#session, this.#firstNumber(this.#groups++))
  }

  #firstNumber(group: number): number {
    return (this.#number * groupsAnOpening + group) * numbersAGroup
  }
}

/**
 * The numbers of one group that is being opened: each names a group of gathers, of deliveries and of runs.
 */
export class GroupOpening {
  readonly #session: GatheringSession
  readonly #first: number
  #keys = 0

  constructor(session: GatheringSession, first: number) {
    this.#session = session
    this.#first = first
  }

  /**
   * Gives to every rank what all ranks say, each message once, by rank. All ranks make these calls in the
   * same order.
   */
  gather(message: string): Promise<readonly RankMessage[]> {
    return this.#session.gatherIn(this.#first, this.#keys++, message, 'opens a group')
  }

  numberOf(what: 'whole' | 'parts' | 'group'): number {
    return this.#first + { whole: 1, parts: 2, group: 3 }[what]
  }

  /** The group is open, or is refused. */
  end(): void {
    this.#session.forget(this.#first)
  }
}
