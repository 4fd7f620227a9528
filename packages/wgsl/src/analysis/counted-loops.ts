import type { BuiltinCall, For, Statement } from '../ir.ts'
import { walk } from '../walk.ts'
import { hasCall } from './control-flow.ts'
import type { CountedLoop, IndexForms } from './index-forms.ts'
import type { LoopCounters } from './loop-counter.ts'

/** Repetitions of a loop whose copies are compared one by one. */
const mostRepetitions = 4096

/** Finds the loops whose repetitions can be compared one by one: they count, and no barrier stands in them. */
export class CountedLoops {
  readonly #forms: IndexForms
  readonly #counters: LoopCounters
  readonly #synchronises = new Map<Statement, boolean>()

  constructor(forms: IndexForms, counters: LoopCounters) {
    this.#forms = forms
    this.#counters = counters
  }

  of(s: For): CountedLoop | undefined {
    const counter = this.#counters.of(s)
    if (counter?.step === undefined || counter.step === 0 || this.#hasBarrier(s)) return undefined
    // The condition is evaluated once more than the body: no copy may stand in a function that it calls.
    if (hasCall(counter.bound)) return undefined
    if (!this.#forms.isNamedAlways(counter.variable)) return undefined
    const from = this.#forms.of(counter.first)
    if (from === undefined || from.isMutable) return undefined
    const count = counter.trips?.most
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
