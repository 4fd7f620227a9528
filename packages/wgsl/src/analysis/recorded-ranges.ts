import type { Expression, Index, IndexPlace } from '../ir.ts'
import { type Interval, type IntervalOf, join } from './interval.ts'

/** The intervals of integers, and the guards that they make unnecessary. */
export interface Ranges {
  /** The values an integer scalar expression can have; undefined for other types. */
  readonly interval: IntervalOf
  /** Whether the index is inside the array, matrix or vector for any input. */
  isInside(access: IndexPlace | Index): boolean
  /** Assigns the facts about an access to a copy of it. */
  adopt(copy: IndexPlace, original: IndexPlace): void
}

/** Records ranges; the results of all visits to a node are joined. */
export class RecordedRanges implements Ranges {
  readonly #intervals = new Map<Expression, Interval>()
  readonly #inside = new Map<IndexPlace | Index, boolean>()

  recordInterval(e: Expression, range: Interval): void {
    const known = this.#intervals.get(e)
    this.#intervals.set(e, known === undefined ? range : join(known, range))
  }

  recordInside(access: IndexPlace | Index, inside: boolean): void {
    this.#inside.set(access, (this.#inside.get(access) ?? true) && inside)
  }

  readonly interval = (e: Expression): Interval | undefined => this.#intervals.get(e)

  isInside(access: IndexPlace | Index): boolean {
    return this.#inside.get(access) ?? false
  }

  adopt(copy: IndexPlace, original: IndexPlace): void {
    this.#inside.set(copy, this.isInside(original))
  }
}
