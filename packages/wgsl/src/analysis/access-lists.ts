import type { ModuleVariable, Statement } from '../ir.ts'
import type { Effects } from './effects.ts'
import type { LoopCounters } from './loop-counter.ts'

/** The maximum number of accesses of a list; a call accesses all variables of its function and its callees. */
const mostAccesses = 200_000

/**
 * Finds which statements of a list access which variables, and where the list has barriers, once per list. In
 * a list with too many accesses it finds none.
 */
export class AccessLists {
  readonly #effects: Effects
  readonly #counters: LoopCounters
  readonly #known = new WeakMap<readonly Statement[], ListAccesses>()

  constructor({ effects, counters }: { readonly effects: Effects; readonly counters: LoopCounters }) {
    this.#effects = effects
    this.#counters = counters
  }

  /** The statements that access a variable, or call a function that does. */
  accessing(list: readonly Statement[], v: ModuleVariable): readonly Statement[] {
    return (this.#of(list).positions.get(v) ?? []).map((i) => list[i]!)
  }

  /**
   * The accessing statements from the first one to the first barrier after it that is a statement of the list
   * or begins one, or to the end of the list.
   */
  beforeBarrier(list: readonly Statement[], v: ModuleVariable): readonly Statement[] {
    const { positions, nextBarrier } = this.#of(list)
    const accessing = positions.get(v) ?? []
    return accessing.filter((i) => i < nextBarrier[accessing[0]!]!).map((i) => list[i]!)
  }

  #of(list: readonly Statement[]): ListAccesses {
    const known = this.#known.get(list)
    if (known !== undefined) return known
    const positions = new Map<ModuleVariable, number[]>()
    const nextBarrier: number[] = []
    let next = list.length
    for (let i = list.length - 1; i >= 0; i--) {
      nextBarrier[i] = next
      const s = list[i]!
      if (isBarrier(s) || beginsWithBarrier(s, this.#counters)) next = i
    }
    let accesses = 0
    for (const [i, s] of list.entries()) {
      const { stored, used } = this.#effects.of(s)
      accesses += stored.size + used.size
      if (accesses > mostAccesses) break
      for (const v of new Set([...stored, ...used])) {
        const known = positions.get(v)
        if (known === undefined) positions.set(v, [i])
        else known.push(i)
      }
    }
    if (accesses > mostAccesses) positions.clear()
    const found = { positions, nextBarrier }
    this.#known.set(list, found)
    return found
  }
}

interface ListAccesses {
  readonly positions: ReadonlyMap<ModuleVariable, readonly number[]>
  /**
   * For each position: that of the next statement behind it that is a barrier or begins with one, or the
   * length of the list.
   */
  readonly nextBarrier: readonly number[]
}

function isBarrier(s: Statement): boolean {
  return s.kind === 'evaluate' && s.value.kind === 'builtin-call' && s.value.name === 'workgroupBarrier'
}

/** A `for` loop that certainly runs at least once and starts with a barrier. */
function beginsWithBarrier(s: Statement, counters: LoopCounters): boolean {
  if (s.kind !== 'for' || (counters.exactTrips(s) ?? 0) === 0) return false
  const [first] = s.body.statements
  return first !== undefined && isBarrier(first)
}
