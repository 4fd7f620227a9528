import type {
  BinaryOperator,
  BuiltinCall,
  Call,
  CompoundAssign,
  Evaluated,
  Expression,
  Index,
  IndexPlace,
  IrFunction,
  IrModule,
  Parameter,
  Place,
  Statement,
  Type,
} from '../ir.ts'
import { elementCount } from '../types.ts'
import { rootOf, some } from '../walk.ts'
import type { Assignments } from './assignments.ts'
import {
  builtinCallComponents,
  builtinComponents,
  type Components,
  wholeComponents,
  zeroComponents,
} from './component-ranges.ts'
import { ConditionFacts } from './condition-facts.ts'
import { isStraight } from './control-flow.ts'
import { type Fact, Facts } from './facts.ts'
import { applyOperator, type Interval, interval, join, meet, whole } from './interval.ts'
import type { LinearForms } from './linear-form.ts'
import { type Ranges, RecordedRanges } from './recorded-ranges.ts'
import { VariableRanges } from './variable-ranges.ts'

/** After this many passes over a function, a bound that still grows is widened to that of its type. */
const passesBeforeWidening = 3
const mostPasses = 12

/**
 * The maximum number of expressions in called functions that are analysed for one call; without a limit,
 * nested calls would take exponential time.
 */
const mostExpressionsOfCall = 64

/**
 * Finds the intervals of a module's integers, component by component. A bounds check is omitted if the
 * interval of the index is inside an array of fixed length.
 *
 * The following have an interval that may be narrower than their type; everything else has that of its type:
 * - literals, zero values, and built-in values (`builtinComponents`), in a grid of at most 65,535 workgroups
 *   per dimension;
 * - splats, vectors constructed from parts, and swizzles of such values;
 * - the operators of `interval.ts`, and the built-in functions with `gives` in `builtinFacts`;
 * - lets: the interval of the value. Function variables: the join of all values assigned to the variable or
 *   to one of its components; a passed address may leave any value;
 * - parameters: the join over all calls. Calls of functions that contain only lets, `if` statements and
 *   returns: the join of the returns, for these arguments;
 * - scalars that a condition around the code compares with `<`, `<=`, `>` or `>=` to such a value, alone or
 *   in `&&`, `||` and `!`, as long as no variable in the compared value is assigned in the condition or in
 *   the code that it guards; and the counter of a loop in its body (`loop-counter.ts`).
 *
 * This is sound because the intervals of variables grow until no pass over the function changes them, so each
 * interval contains the values of every execution.
 */
export function findRanges(module: IrModule, assignments: Assignments, forms: LinearForms): Ranges {
  const analysis = new RangeAnalysis(module, assignments, forms)
  // Callers before callees, because a parameter's interval depends on the arguments of its calls.
  for (const fn of [...module.functions].reverse()) analysis.run(fn)
  return analysis.found
}

/** Walks functions, statement by statement, with the facts that hold there. */
class RangeAnalysis {
  readonly found = new RecordedRanges()
  readonly #module: IrModule
  readonly #forms: LinearForms
  readonly #parameters = new Map<Parameter, Components>()
  readonly #lets = new Map<number, Components>()
  readonly #variables = new VariableRanges()
  readonly #assignments: Assignments
  readonly #conditions: ConditionFacts
  #recording = false
  #callDepth = 0
  /** The remaining number of expressions that may be analysed for the outermost call. */
  #callBudget = 0
  /** The results of the function being evaluated, in the order of its returns. */
  #results: Components[] = []
  readonly #straight: ReadonlySet<IrFunction>
  #facts: Facts

  constructor(module: IrModule, assignments: Assignments, forms: LinearForms) {
    this.#module = module
    this.#straight = new Set(module.functions.filter((fn) => isStraight(fn.body)))
    this.#assignments = assignments
    this.#forms = forms
    this.#conditions = new ConditionFacts(forms, assignments, (e) => this.#quiet(e))
    this.#facts = new Facts()
  }

  run(fn: IrFunction): void {
    for (const p of fn.parameters)
      if (p.builtin !== undefined) this.#parameters.set(p, builtinComponents(this.#module, p))
    this.#recording = false
    for (let pass = 0; pass < mostPasses; pass++) {
      this.#variables.isWidening = pass >= passesBeforeWidening
      this.#variables.hasGrown = false
      this.#facts = new Facts()
      this.#statement(fn.body)
      if (!this.#variables.hasGrown) break
    }
    if (this.#variables.hasGrown) this.#variables.giveUp()
    this.#recording = true
    this.#facts = new Facts()
    this.#statement(fn.body)
  }

  // --------------------------------------------------------------------------------------------------
  // statements

  #statement(s: Statement | undefined): void {
    if (s === undefined) return
    switch (s.kind) {
      case 'block':
        for (const inner of s.statements) {
          if (this.#callDepth > 0 && this.#callBudget <= 0) return
          this.#statement(inner)
        }
        return
      case 'let': {
        const value = this.#value(s.value)
        if (value !== undefined) this.#lets.set(s.variable.id, value)
        else this.#lets.delete(s.variable.id)
        return
      }
      case 'var': {
        const value = s.initial === undefined ? zeroComponents(s.variable.type) : this.#value(s.initial)
        if (value !== undefined) this.#variables.assign(s.variable, value)
        return
      }
      case 'assign': {
        this.#place(s.target)
        this.#variables.store(s.target, this.#value(s.value))
        return
      }
      case 'compound-assign':
        this.#compound(s)
        return
      case 'evaluate':
        this.#value(s.value)
        return
      case 'if':
        this.#value(s.condition)
        this.#under(this.#conditions.of(s.condition, true), [s.condition, s.then], () =>
          this.#statement(s.then),
        )
        this.#under(this.#conditions.of(s.condition, false), [s.condition, s.otherwise], () =>
          this.#statement(s.otherwise),
        )
        return
      case 'switch':
        this.#value(s.selector)
        for (const clause of s.clauses) this.#statement(clause.body)
        return
      case 'loop':
        this.#statement(s.body)
        this.#statement(s.continuing)
        if (s.breakIf !== undefined) this.#value(s.breakIf)
        return
      case 'for': {
        this.#statement(s.initial)
        if (s.condition !== undefined) this.#value(s.condition)
        const facts = this.#conditions.inside(s)
        const region = [s.condition, s.body]
        this.#under(facts, region, () => this.#statement(s.body))
        // A call in the update may change the counter before the rest of the update reads it.
        this.#under(
          s.update !== undefined && some(s.update, ({ kind }) => kind === 'call') ? [] : facts,
          region,
          () => this.#statement(s.update),
        )
        return
      }
      case 'return':
        if (s.value?.type !== undefined)
          this.#results.push(this.#value(s.value) ?? wholeComponents(s.value.type) ?? [])
        return
      case 'break':
      case 'continue':
        return
    }
  }

  /** Runs `inside` with the facts that no assignment in the parts invalidates. */
  #under(
    facts: readonly Fact[],
    parts: readonly (Statement | Expression | undefined)[],
    inside: () => void,
  ): void {
    const outer = this.#facts
    this.#facts = outer.with(facts, (v) =>
      parts.some((part) => part !== undefined && this.#assignments.isAssigned(part, v)),
    )
    inside()
    this.#facts = outer
  }

  #compound(s: CompoundAssign): void {
    this.#place(s.target)
    const left = this.#loaded(s.target)
    const right = this.#value(s.value)
    this.#variables.store(s.target, this.#operate(s.operator, left, right, s.target.type))
  }

  /** The value of an expression, which is not recorded. */
  #quiet(e: Expression): Components | undefined {
    const recording = this.#recording
    this.#recording = false
    const value = this.#value(e)
    this.#recording = recording
    return value
  }

  // --------------------------------------------------------------------------------------------------
  // expressions

  #value(e: Evaluated): Components | undefined {
    if (this.#callDepth > 0 && this.#callBudget-- <= 0) return e.type && wholeComponents(e.type)
    const computed = this.#compute(e)
    if (computed === undefined || e.type === undefined) return undefined
    const refined = this.#refine(e, computed)
    if (this.#recording && refined.length === 1 && e.type.kind === 'scalar')
      this.found.recordInterval(e, refined[0]!)
    return refined
  }

  #refine(e: Expression, value: Components): Components {
    if (value.length > 1 || !this.#facts.hasRanges) return value
    const key = e.kind === 'literal' ? undefined : this.#forms.key(e)
    const fact = key === undefined ? undefined : this.#facts.range(key)
    return fact === undefined ? value : [meet(value[0]!, fact)]
  }

  #compute(e: Evaluated): Components | undefined {
    switch (e.kind) {
      case 'literal':
        return whole(e.type.scalar) === undefined ? undefined : [interval(Number(e.value), Number(e.value))]
      case 'zero':
        return zeroComponents(e.type)
      case 'splat': {
        const value = this.#value(e.value)
        return value && Array.from({ length: e.type.size }, () => value[0]!)
      }
      case 'construct': {
        const args = e.args.map((a) => this.#value(a))
        if (e.type.kind !== 'vector' || args.some((a) => a === undefined)) return undefined
        return args.flatMap((a) => a!)
      }
      case 'convert':
      case 'bitcast':
        this.#value(e.value)
        return wholeComponents(e.type)
      case 'value': {
        const all = wholeComponents(e.type)
        if (all === undefined) return undefined
        return (
          (e.value.kind === 'parameter' ? this.#parameters.get(e.value) : this.#lets.get(e.value.id)) ?? all
        )
      }
      case 'constant':
        return undefined
      case 'load':
        this.#place(e.place)
        return this.#loaded(e.place)
      case 'address-of': {
        this.#place(e.place)
        // Code that has the pointer can store any value.
        this.#variables.store(rootOf(e.place), undefined)
        return undefined
      }
      case 'member':
        this.#value(e.base)
        return wholeComponents(e.type)
      case 'index': {
        const base = this.#value(e.base)
        const index = this.#value(e.index)?.[0]
        const type = e.base.type
        this.#recordInside(e, isBelow(index, elementCount(type)!))
        if (base !== undefined && type.kind === 'vector') return [base.reduce(join)]
        return wholeComponents(e.type)
      }
      case 'swizzle': {
        const base = this.#value(e.base)
        return base && e.components.map((c) => base[c]!)
      }
      case 'unary':
        this.#value(e.value)
        return wholeComponents(e.type)
      case 'binary': {
        const left = this.#value(e.left)
        const right = this.#value(e.right)
        return this.#operate(e.operator, left, right, e.type)
      }
      case 'logical':
        this.#value(e.left)
        this.#value(e.right)
        return undefined
      case 'builtin-call':
        return this.#builtin(e)
      case 'call':
        return this.#call(e)
    }
  }

  #operate(
    operator: BinaryOperator,
    left: Components | undefined,
    right: Components | undefined,
    type: Type,
  ): Components | undefined {
    const all = wholeComponents(type)
    if (all === undefined) return undefined
    if (left === undefined || right === undefined) return all
    return all.map((whole, c) => applyOperator(operator, left[c] ?? left[0]!, right[c] ?? right[0]!, whole))
  }

  #loaded(place: Place): Components | undefined {
    const value = this.#variables.at(place)
    const load: Expression = { kind: 'load', place, type: place.type, loc: place.loc }
    return value && this.#refine(load, value)
  }

  #place(place: Place): void {
    switch (place.kind) {
      case 'variable':
      case 'deref':
        return
      case 'member-place':
      case 'component-place':
        this.#place(place.base)
        return
      case 'view-place':
        this.#place(place.base)
        this.#value(place.offset)
        if (place.size !== undefined) this.#value(place.size)
        return
      case 'index-place': {
        this.#place(place.base)
        const index = this.#value(place.index)?.[0]
        const length = elementCount(place.base.type)
        this.#recordInside(place, length !== undefined && isBelow(index, length))
        return
      }
    }
  }

  #recordInside(access: IndexPlace | Index, inside: boolean): void {
    if (this.#recording) this.found.recordInside(access, inside)
  }

  #builtin(e: BuiltinCall): Components | undefined {
    const args = e.args.map((a) => this.#value(a))
    const all = e.type && wholeComponents(e.type)
    return all && builtinCallComponents(e.name, args, all)
  }

  #call(e: Call): Components | undefined {
    const args = e.args.map((a) => this.#value(a))
    if (this.#recording) {
      for (const [i, p] of e.function.parameters.entries()) {
        const all = wholeComponents(p.type)
        if (all === undefined) continue
        const value = args[i] ?? all
        const known = this.#parameters.get(p)
        this.#parameters.set(p, known === undefined ? value : known.map((k, c) => join(k, value[c]!)))
      }
    }
    if (e.type === undefined) return undefined
    const all = wholeComponents(e.type)
    return all && (this.#returned(e.function, args) ?? all)
  }

  /**
   * The interval of a function's result for these arguments, if the function contains only lets, `if`
   * statements and returns.
   */
  #returned(fn: IrFunction, args: readonly (Components | undefined)[]): Components | undefined {
    if (this.#callDepth >= 8 || !this.#straight.has(fn)) return undefined
    if (this.#callDepth === 0) this.#callBudget = mostExpressionsOfCall
    const recording = this.#recording
    const facts = this.#facts
    const saved = fn.parameters.map((p) => this.#parameters.get(p))
    this.#recording = false
    this.#facts = new Facts()
    this.#callDepth++
    for (const [i, p] of fn.parameters.entries()) {
      const value = args[i] ?? wholeComponents(p.type)
      if (value !== undefined) this.#parameters.set(p, value)
    }
    const returned = this.#results
    this.#results = []
    this.#statement(fn.body)
    const results = this.#results
    this.#results = returned
    this.#callDepth--
    for (const [i, p] of fn.parameters.entries()) {
      const old = saved[i]
      if (old === undefined) this.#parameters.delete(p)
      else this.#parameters.set(p, old)
    }
    this.#recording = recording
    this.#facts = facts
    return this.#callBudget > 0 ? results.reduce((all, r) => all.map((a, c) => join(a, r[c]!))) : undefined
  }
}

function isBelow(index: Interval | undefined, length: number): boolean {
  return index !== undefined && index.low >= 0 && index.high < length
}
