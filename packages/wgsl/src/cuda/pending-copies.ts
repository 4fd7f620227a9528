import type { ModuleVariable } from '../ir.ts'
import type { Copy } from './copy-elements.ts'

/**
 * A pending copy. Its index is `fresh` until the loop's counter is stepped. It is then `stepped`: until the
 * loop is run again, the next copy of the same statement writes a different element. If a let or parameter in
 * the index is declared again, it becomes `unknown`.
 */
export interface Pending {
  readonly copy: Copy
  readonly index: 'fresh' | 'stepped' | 'unknown'
  /** The number of barriers since the copy. */
  readonly age: number
}

/** Whether a pending copy and a later one write different elements. */
export function areApart(before: Pending, copy: Copy): boolean {
  if (before.index === 'unknown' || before.copy.base !== copy.base) return false
  if (before.copy === copy) return before.index === 'stepped'
  return [...copy.elements].every((element) => !before.copy.elements.has(element))
}

/** What may hold at one point of the control flow on any path to it. */
export class State {
  /** The variables that may have been touched since the last barrier. */
  readonly touched: Set<ModuleVariable>
  /** For each barrier that may have been the last, the variables touched after it. */
  readonly since: Set<Set<ModuleVariable>>
  readonly #pending: Map<string, Pending>

  constructor(states: readonly State[] = []) {
    this.touched = new Set(states.flatMap((s) => [...s.touched]))
    this.since = new Set(states.flatMap((s) => [...s.since]))
    this.#pending = new Map(states.flatMap((s) => [...s.#pending]))
  }

  get pending(): Iterable<Pending> {
    return this.#pending.values()
  }

  get isPending(): boolean {
    return this.#pending.size > 0
  }

  /** The number of entries, which grows when something new is added. */
  get size(): number {
    return this.#pending.size + this.touched.size + this.since.size
  }

  add(pending: Pending): void {
    this.#pending.set(`${pending.copy.number} ${pending.index} ${pending.age}`, pending)
  }

  change(to: (p: Pending) => Pending['index']): void {
    for (const [key, p] of [...this.#pending]) {
      const index = to(p)
      if (index === p.index) continue
      this.#pending.delete(key)
      this.add({ ...p, index })
    }
  }
}

/** The state where two paths join; undefined in unreachable code. */
export function joined(a: State | undefined, b: State | undefined): State | undefined {
  const states = [a, b].filter((s) => s !== undefined)
  return states.length === 0 ? undefined : new State(states)
}
