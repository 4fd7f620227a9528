import type { ModuleVariable, Statement } from '../ir.ts'
import type { Effects } from './effects.ts'
import type { LoopCounters } from './loop-counter.ts'

/**
 * Finds which statements of a list access which variables, and where the list has barriers, once per list.
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
   * The accessing statements from the first one to the first barrier after it; undefined if there is no such
   * barrier, or if one of the statements in between contains a barrier.
   */
  beforeBarrier(list: readonly Statement[], v: ModuleVariable): readonly Statement[] | undefined {
    const { positions, nextBarrier, nextInside } = this.#of(list)
    const accessing = positions.get(v)
    if (accessing === undefined) return undefined
    const [from] = accessing
    const to = nextBarrier[from! + 1]!
    if (to === list.length || nextInside[from!]! < to) return undefined
    return accessing.filter((i) => i < to).map((i) => list[i]!)
  }

  #of(list: readonly Statement[]): ListAccesses {
    const known = this.#known.get(list)
    if (known !== undefined) return known
    const positions = new Map<ModuleVariable, number[]>()
    const note = (v: ModuleVariable, i: number) => {
      const list = positions.get(v)
      if (list === undefined) positions.set(v, [i])
      else if (list.at(-1) !== i) list.push(i)
    }
    const nextBarrier: number[] = new Array(list.length + 1).fill(list.length)
    const nextInside: number[] = new Array(list.length + 1).fill(list.length)
    for (let i = list.length - 1; i >= 0; i--) {
      const s = list[i]!
      nextBarrier[i] = isBarrier(s) || beginsWithBarrier(s, this.#counters) ? i : nextBarrier[i + 1]!
      nextInside[i] = this.#effects.of(s).hasBarrier ? i : nextInside[i + 1]!
    }
    for (const [i, s] of list.entries()) {
      const { stored, used } = this.#effects.of(s)
      for (const v of stored) note(v, i)
      for (const v of used) note(v, i)
    }
    const found = { positions, nextBarrier, nextInside }
    this.#known.set(list, found)
    return found
  }
}

interface ListAccesses {
  readonly positions: ReadonlyMap<ModuleVariable, readonly number[]>
  /**
   * For each position and the end: the position of the next statement that is a barrier or begins with one.
   */
  readonly nextBarrier: readonly number[]
  /** The same for statements that contain a barrier anywhere. */
  readonly nextInside: readonly number[]
}

function isBarrier(s: Statement): boolean {
  return s.kind === 'evaluate' && s.value.kind === 'builtin-call' && s.value.name === 'workgroupBarrier'
}

/** A loop that runs at least once and starts with a barrier. */
function beginsWithBarrier(s: Statement, counters: LoopCounters): boolean {
  if (s.kind === 'loop') return s.body.statements[0] !== undefined && isBarrier(s.body.statements[0])
  if (s.kind !== 'for' || s.body.statements[0] === undefined || !isBarrier(s.body.statements[0])) return false
  return (counters.exactTrips(s) ?? 0) > 0
}
