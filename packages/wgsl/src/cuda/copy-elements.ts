import type { Analyses } from '../analysis/analyses.ts'
import { isFixed, type LinearForm, substituted, termsText } from '../analysis/linear-form.ts'
import type { LoopCounter } from '../analysis/loop-counter.ts'
import type { Assign, LocalVariable, ModuleVariable } from '../ir.ts'
import { moduleVariableOf } from '../walk.ts'

/** The maximum number of iterations of a loop for which the elements that a copy writes are compared. */
const mostElements = 4096

/** A copy to elements `e + c` of a variable. */
export interface Copy {
  /** Identifies the copy. */
  readonly number: number
  readonly statement: Assign
  readonly variable: ModuleVariable
  /** The text of e, which is equal for equal sums of the same values. */
  readonly base: string
  /** The ids of lets and parameters that e depends on. */
  readonly lets: readonly number[]
  /** The counter that c depends on; `elements` has a c for each iteration of its loop. */
  readonly counter: LocalVariable | undefined
  readonly elements: ReadonlySet<number>
}

/** The counters of the loops around a statement. */
export type Counters = ReadonlyMap<LocalVariable, LoopCounter>

/**
 * The copy that a statement performs; undefined if its index has no known form, or if two iterations may
 * write the same element.
 */
export function copyOf(
  statement: Assign,
  number: number,
  { forms }: Analyses,
  counters: Counters,
): Copy | undefined {
  const { target } = statement
  const form = target.kind === 'index-place' ? forms.of(target.index) : undefined
  if (form === undefined) return undefined
  const [counted, ...others] = [...form.terms.keys()].filter((a) => a.variables.length > 0)
  const copy = (first: LinearForm, offsets: readonly number[], counter?: LocalVariable): Copy | undefined => {
    const elements = new Set(offsets.map((offset) => (first.constant + offset) >>> 0))
    if (elements.size < offsets.length) return undefined
    const lets = [...first.terms.keys()].flatMap((a) => a.lets)
    const variable = moduleVariableOf(target)!
    return { number, statement, variable, base: termsText(first), lets, counter, elements }
  }
  if (counted === undefined) return copy(form, [0])
  const counter = counted.variable && counters.get(counted.variable)
  const start = counter && forms.of(counter.first)
  const count = counter?.trips?.most
  if (others.length > 0 || start === undefined || counter?.step === undefined) return undefined
  if (count === undefined || count > mostElements || !isFixed(start)) return undefined
  const step = Math.imul(form.terms.get(counted)!, counter.step)
  return copy(
    substituted(form, (atom) => (atom === counted ? start : undefined)),
    Array.from({ length: count }, (_, i) => Math.imul(step, i)),
    counter.variable,
  )
}
