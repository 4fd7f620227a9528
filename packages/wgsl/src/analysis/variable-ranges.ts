import type { LocalVariable, ModuleVariable, Place } from '../ir.ts'
import { rootOf } from '../walk.ts'
import { type Components, wholeComponents } from './component-ranges.ts'
import { contains, interval, join } from './interval.ts'

/** The intervals of integers in local variables over the whole function; each store widens them. */
export class VariableRanges {
  /** Whether a bound that still grows is widened to that of its type immediately. */
  isWidening = false
  /** Whether an interval has grown since this was last set to false. */
  hasGrown = false
  readonly #known = new Map<LocalVariable | ModuleVariable, Components>()

  /** The values that a place of integers can hold; undefined for other types. */
  at(place: Place): Components | undefined {
    const known = place.kind === 'variable' ? this.#known.get(place.variable) : undefined
    return known ?? wholeComponents(place.type)
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

  /** Adds a value stored to a variable, or to a component of it, which any component may be. */
  store(target: Place, value: Components | undefined): void {
    const root = rootOf(target)
    if (root.kind !== 'variable' || root.variable.kind !== 'local-variable') return
    const all = wholeComponents(root.variable.type)
    if (all !== undefined) this.assign(root.variable, value ?? all)
  }

  /** Lets each variable have any value of its type from now on. */
  giveUp(): void {
    for (const [v] of this.#known) this.#known.set(v, wholeComponents(v.type)!)
  }
}
