import type { LocalVariable, Place } from '../ir.ts'
import { rootOf } from '../walk.ts'
import { type Components, wholeComponents } from './component-ranges.ts'
import { contains, interval, join } from './interval.ts'

/** The intervals of integers in local variables over the whole function; each store widens them. */
export class VariableRanges {
  /** Whether a bound that still grows is widened to that of its type immediately. */
  isWidening = false
  /** Whether an interval has grown since this was last set to false. */
  hasGrown = false
  readonly #known = new Map<LocalVariable, Components>()

  /** The values that a place of integers can hold; undefined for other types. */
  at(place: Place): Components | undefined {
    const all = wholeComponents(place.type)
    if (all === undefined) return undefined
    if (place.kind === 'variable' && place.variable.kind === 'local-variable')
      return this.#known.get(place.variable) ?? all
    return all
  }

  /** Adds a value that is assigned to the whole variable. */
  assign(variable: LocalVariable, value: Components): void {
    const known = this.#known.get(variable)
    if (known === undefined) {
      this.#known.set(variable, value)
      this.hasGrown = true
      return
    }
    const all = wholeComponents(variable.type)!
    let grew = false
    const next = known.map((k, c) => {
      const v = value[c] ?? value[0]!
      if (contains(k, v)) return k
      grew = true
      if (!this.isWidening) return join(k, v)
      return interval(v.low < k.low ? all[c]!.low : k.low, v.high > k.high ? all[c]!.high : k.high)
    })
    if (!grew) return
    this.#known.set(variable, next)
    this.hasGrown = true
  }

  /** Adds a value stored to a variable. A store to a part of the variable may leave any value in it. */
  store(target: Place, value: Components | undefined): void {
    const root = rootOf(target)
    if (root.kind !== 'variable' || root.variable.kind !== 'local-variable') return
    const all = wholeComponents(root.variable.type)
    if (all !== undefined) this.assign(root.variable, (target.kind === 'variable' ? value : undefined) ?? all)
  }

  /** Lets each variable have any value of its type from now on. */
  giveUp(): void {
    for (const [v] of this.#known) this.#known.set(v, wholeComponents(v.type)!)
  }
}
