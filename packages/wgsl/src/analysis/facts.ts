import type { LocalVariable } from '../ir.ts'
import type { Interval } from './interval.ts'
import type { Key } from './linear-form.ts'

/** The range to which a condition restricts a value. */
export interface Fact {
  readonly key: Key
  readonly range: Interval
}

/** The facts that hold at a point in the program. */
export class Facts {
  readonly #ranges: ReadonlyMap<string, Interval>

  constructor(ranges: ReadonlyMap<string, Interval> = new Map()) {
    this.#ranges = ranges
  }

  /** These facts and the facts in `added` that no assignment in the region invalidates. */
  with(added: readonly Fact[], changes: (variable: LocalVariable) => boolean): Facts {
    const lasting = added.filter(({ key }) => !key.variables.some(changes))
    if (lasting.length === 0) return this
    const ranges = new Map(this.#ranges)
    for (const { key, range } of lasting) {
      const { low = range.low, high = range.high } = ranges.get(key.text) ?? {}
      ranges.set(key.text, { low: Math.max(low, range.low), high: Math.min(high, range.high) })
    }
    return new Facts(ranges)
  }

  /** Whether any interval is known. */
  get hasRanges(): boolean {
    return this.#ranges.size > 0
  }

  range(key: Key): Interval | undefined {
    return this.#ranges.get(key.text)
  }
}
