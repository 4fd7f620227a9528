import type { LocalVariable, Place, SwizzleAssign } from '../ir.ts'
import { rootOf } from '../walk.ts'
import { type Components, wholeComponents } from './component-ranges.ts'
import { contains, interval, join } from './interval.ts'

/** What the integers in local variables can be, anywhere in their function: each store adds to it. */
export class VariableRanges {
  /** Bounds that still grow are given up at once. */
  isWidening = false
  /** Something has grown since this was last set to false. */
  hasGrown = false
  readonly #known = new Map<LocalVariable, Components>()

  /** What a place of integers can hold; undefined for other types. */
  at(place: Place): Components | undefined {
    const all = wholeComponents(place.type)
    if (all === undefined) return undefined
    if (place.kind === 'variable' && place.variable.kind === 'local-variable')
      return this.#known.get(place.variable) ?? all
    if (
      place.kind === 'component-place' &&
      place.base.kind === 'variable' &&
      place.base.variable.kind === 'local-variable'
    ) {
      const known = this.#known.get(place.base.variable)?.[place.component]
      if (known !== undefined) return [known]
    }
    return all
  }

  /** Adds a value that the variable is given whole. */
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
      // Zero is a likely bound for what shrinks: one more guess before none.
      const low = v.low >= k.low ? k.low : v.low >= 0 && k.low > 0 ? 0 : all[c]!.low
      return interval(low, v.high > k.high ? all[c]!.high : k.high)
    })
    if (!grew) return
    this.#known.set(variable, next)
    this.hasGrown = true
  }

  /** Adds a value stored to a variable or a part of it; undefined: any value. */
  store(target: Place, value: Components | undefined): void {
    const root = rootOf(target)
    if (root.kind !== 'variable' || root.variable.kind !== 'local-variable') return
    const all = wholeComponents(root.variable.type)
    if (all === undefined) return
    if (target.kind === 'variable') {
      this.assign(root.variable, value ?? all)
      return
    }
    const known = this.#known.get(root.variable) ?? all
    const stored = value?.[0]
    const next = known.map((k, c) => {
      if (target.kind === 'component-place' && target.component !== c) return k
      return stored === undefined ? all[c]! : join(k, stored)
    })
    this.assign(root.variable, next)
  }

  /** Adds a value stored to some components of a variable; undefined: any value. */
  storeSwizzle({ target, operator, components }: SwizzleAssign, value: Components | undefined): void {
    if (target.kind !== 'variable' || target.variable.kind !== 'local-variable') return
    const all = wholeComponents(target.type)
    if (all === undefined) return
    const next = [...(this.#known.get(target.variable) ?? all)]
    for (const [i, c] of components.entries())
      next[c] = operator === undefined && value !== undefined ? join(next[c]!, value[i] ?? all[c]!) : all[c]!
    this.assign(target.variable, next)
  }

  /** From now on each variable can have any value of its type. */
  giveUp(): void {
    for (const [v] of this.#known) this.#known.set(v, wholeComponents(v.type)!)
  }
}
