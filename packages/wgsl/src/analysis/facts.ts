import type { LocalVariable } from '../ir.ts'
import type { Interval } from './interval.ts'
import type { Key } from './linear-form.ts'

/** A fact about a value that follows from a condition. */
export type Fact =
  | { readonly kind: 'interval'; readonly key: Key; readonly range: Interval }
  /** `key` is less than `than`. */
  | { readonly kind: 'less'; readonly key: Key; readonly than: Key }

/** The facts that hold at a place in the program. */
export class Facts {
  readonly #ranges: ReadonlyMap<string, Interval>
  readonly #less: ReadonlySet<string>

  constructor(ranges: ReadonlyMap<string, Interval> = new Map(), less: ReadonlySet<string> = new Set()) {
    this.#ranges = ranges
    this.#less = less
  }

  /** These facts, and those of `added` that no assignment in the region invalidates. */
  with(added: readonly Fact[], changes: (variable: LocalVariable) => boolean): Facts {
    const lasting = added.filter((f) => {
      const variables = f.kind === 'less' ? [...f.key.variables, ...f.than.variables] : f.key.variables
      return !variables.some(changes)
    })
    if (lasting.length === 0) return this
    const ranges = new Map(this.#ranges)
    const less = new Set(this.#less)
    for (const f of lasting) {
      if (f.kind === 'less') less.add(`${f.key.text}<${f.than.text}`)
      else {
        const { low = f.range.low, high = f.range.high } = ranges.get(f.key.text) ?? {}
        ranges.set(f.key.text, { low: Math.max(low, f.range.low), high: Math.min(high, f.range.high) })
      }
    }
    return new Facts(ranges, less)
  }

  /** Is an interval known of any value? */
  get hasRanges(): boolean {
    return this.#ranges.size > 0
  }

  range(key: Key): Interval | undefined {
    return this.#ranges.get(key.text)
  }

  isLess(key: Key, than: Key): boolean {
    return this.#less.has(`${key.text}<${than.text}`)
  }
}
