import type { Analyses } from '../analysis/analyses.ts'
import { type Atom, isFixed, type LinearForm, substituted, termsText } from '../analysis/linear-form.ts'
import type { LoopCounter } from '../analysis/loop-counter.ts'
import type {
  Assign,
  BuiltinCall,
  Call,
  Expression,
  LetValue,
  LocalVariable,
  ModuleVariable,
  Parameter,
} from '../ir.ts'
import { moduleVariableOf } from '../walk.ts'

/** The most iterations of a loop in which the elements that a copy writes are compared. */
const mostElements = 4096

/** A copy as one path of calls reaches it, to elements `e + c` of a variable. */
export interface Copy {
  /** Tells copies apart. */
  readonly number: number
  readonly statement: Assign
  readonly variable: ModuleVariable
  /** e, as text: equal for equal sums of the same values. */
  readonly base: string
  /** The ids of lets and parameters that e depends on. */
  readonly lets: readonly number[]
  /** The counter that takes part in c, and every c: one for each iteration of its loop. */
  readonly counter: LocalVariable | undefined
  readonly elements: ReadonlySet<number>
}

/** The counters of the loops around a statement, those around the calls that lead to it included. */
export type Counters = ReadonlyMap<LocalVariable, LoopCounter>

/** A path of calls from the entry point to a function. What is known of a statement of the function holds on this path. */
export class CallPath {
  readonly #analyses: Analyses
  /** What lets and parameters on the path stand for. */
  readonly #values: Map<Atom, LinearForm>
  readonly #calls = new Map<Call, CallPath>()
  readonly #copies = new Map<Assign, Copy | undefined>()
  readonly #touched = new Map<BuiltinCall, Set<ModuleVariable>>()
  /** The numbers of the copies on all paths. */
  readonly #numbers: { next: number }

  constructor(
    analyses: Analyses,
    values: ReadonlyMap<Atom, LinearForm> = new Map(),
    numbers: { next: number } = { next: 0 },
  ) {
    this.#analyses = analyses
    this.#values = new Map(values)
    this.#numbers = numbers
  }

  /** The path that goes on with a call. */
  with(call: Call, counters: Counters): CallPath {
    let path = this.#calls.get(call)
    if (path === undefined) {
      path = new CallPath(this.#analyses, this.#values, this.#numbers)
      for (const [i, p] of call.function.parameters.entries()) path.define(p, call.args[i]!, counters)
      this.#calls.set(call, path)
    }
    return path
  }

  /** Notes what a let or a parameter stands for, where an index could be of that form. */
  define(variable: LetValue | Parameter, value: Expression, counters: Counters): void {
    const { id, type, loc } = variable
    const names = this.#components({ kind: 'value', value: variable, type, loc })
    for (const [c, form] of this.#components(value).entries()) {
      const name = [...(names[c]?.terms.keys() ?? [])].find((atom) => atom.lets.includes(id))
      const resolved = this.#resolved(form)
      if (name === undefined || resolved === undefined || this.#iterations(resolved, counters) === undefined)
        continue
      this.#values.set(name, resolved)
    }
  }

  #components(e: Expression): readonly (LinearForm | undefined)[] {
    const { forms } = this.#analyses
    if (e.type?.kind !== 'vector') return [forms.of(e)]
    return Array.from({ length: e.type.size }, (_, c) => forms.component(e, c))
  }

  /** The copy that the statement is; undefined where its index has no known form. */
  copy(statement: Assign, counters: Counters): Copy | undefined {
    if (!this.#copies.has(statement)) this.#copies.set(statement, this.#makeCopy(statement, counters))
    return this.#copies.get(statement)
  }

  #makeCopy(statement: Assign, counters: Counters): Copy | undefined {
    const { target } = statement
    if (target.kind !== 'index-place') return undefined
    const form = this.#resolved(this.#analyses.forms.of(target.index))
    const found = form && this.#iterations(form, counters)
    if (found === undefined) return undefined
    const { first, offsets, counter } = found
    const elements = new Set(offsets.map((offset) => (first.constant + offset) >>> 0))
    if (elements.size < offsets.length) return undefined
    const lets = [...first.terms.keys()].flatMap((a) => a.lets)
    const variable = moduleVariableOf(target)!
    const number = this.#numbers.next++
    return { number, statement, variable, base: termsText(first), lets, counter, elements }
  }

  /** The form in which lets and parameters stand for their values. */
  #resolved(form: LinearForm | undefined): LinearForm | undefined {
    return form && substituted(form, (atom) => this.#values.get(atom))
  }

  /** The value in the first iteration of the loop whose counter it depends on, and what each iteration adds; undefined where it depends on other variables. */
  #iterations(form: LinearForm, counters: Counters): Iterations | undefined {
    const [counted, ...others] = [...form.terms.keys()].filter((a) => a.variables.length > 0)
    if (counted === undefined) return { first: form, offsets: [0], counter: undefined }
    const counter = counted.variable && counters.get(counted.variable)
    const start = counter && this.#resolved(this.#analyses.forms.of(counter.first))
    const count = counter?.trips?.most
    if (others.length > 0 || start === undefined || counter?.step === undefined) return undefined
    if (count === undefined || count > mostElements || !isFixed(start)) return undefined
    const step = Math.imul(form.terms.get(counted)!, counter.step)
    return {
      first: substituted(form, (atom) => (atom === counted ? start : undefined)),
      offsets: Array.from({ length: count }, (_, i) => Math.imul(step, i)),
      counter: counter.variable,
    }
  }

  /** The workgroup variables that are touched after a barrier until the next one, as far as they were noted. */
  touchedAfter(barrier: BuiltinCall): Set<ModuleVariable> {
    const touched = this.#touched.get(barrier) ?? new Set()
    this.#touched.set(barrier, touched)
    return touched
  }
}

interface Iterations {
  /** No assignment changes it. */
  readonly first: LinearForm
  readonly offsets: readonly number[]
  readonly counter: LocalVariable | undefined
}
