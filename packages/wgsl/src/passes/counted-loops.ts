import type { BuiltinCall, For, Statement } from '../ir.ts'
import { walk } from '../walk.ts'
import { hasCall } from './control-flow.ts'
import type { CountedLoop, IndexForms } from './index-forms.ts'
import { counterOf, tripCount } from './loops.ts'
import type { Ranges } from './ranges.ts'

/** Repetitions of a loop whose copies are compared one by one. */
const mostRepetitions = 4096

/** Finds the loops whose repetitions can be compared one by one: they count, and no barrier stands in them. */
export class CountedLoops {
  readonly #forms: IndexForms
  readonly #ranges: Ranges
  readonly #synchronises = new Map<Statement, boolean>()

  constructor(forms: IndexForms, ranges: Ranges) {
    this.#forms = forms
    this.#ranges = ranges
  }

  of(s: For): CountedLoop | undefined {
    const counter = counterOf(s)
    if (counter?.step === undefined || counter.step === 0 || this.#hasBarrier(s)) return undefined
    // The condition is evaluated once more than the body: no copy may stand in a function that it calls.
    if (hasCall(counter.bound)) return undefined
    if (!this.#forms.isNamedAlways(counter.variable)) return undefined
    const from = this.#forms.of(counter.from)
    if (from === undefined || from.isMutable) return undefined
    const low = this.#ranges.interval(counter.from)?.low
    const high = this.#ranges.interval(counter.bound)?.high
    let count = tripCount(s, this.#ranges)
    // From one of several values up to a bound: at most so many, if the counter cannot wrap on the way.
    const rises = counter.step > 0 && (counter.operator === '<' || counter.operator === '<=')
    const cannotWrap = high !== undefined && high < 2 ** 30 && counter.step < 2 ** 30
    if (count === undefined && rises && low !== undefined && cannotWrap) {
      const steps = (high - low) / counter.step
      count = Math.max(counter.operator === '<' ? Math.ceil(steps) : Math.floor(steps) + 1, 0)
    }
    if (count === undefined || count > mostRepetitions) return undefined
    return { variable: counter.variable, from, step: counter.step, count }
  }

  #hasBarrier(s: Statement): boolean {
    let known = this.#synchronises.get(s)
    if (known === undefined) {
      let found = false
      walk(s, {
        expression: (e) => {
          if (e.kind === 'builtin-call' && isBarrier(e)) found = true
          if (e.kind === 'call' && this.#hasBarrier(e.function.body)) found = true
          return !found
        },
      })
      known = found
      this.#synchronises.set(s, known)
    }
    return known
  }
}

/** The invocations of a workgroup wait for each other here. */
export function isBarrier(e: BuiltinCall): boolean {
  return e.name === 'workgroupUniformLoad' || e.name.endsWith('Barrier')
}
