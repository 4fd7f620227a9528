import type {
  Binary,
  BinaryOperator,
  Block,
  BuiltinCall,
  Call,
  CompoundAssign,
  Expression,
  For,
  Index,
  IndexPlace,
  IrFunction,
  IrModule,
  LocalVariable,
  Parameter,
  Place,
  Statement,
  SwizzleAssign,
  Type,
} from '../ir.ts'
import { rootOf } from '../walk.ts'
import {
  builtinCallComponents,
  builtinComponents,
  type Components,
  constantElements,
  scalarOf,
  wholeComponents,
  zeroComponents,
} from './component-ranges.ts'
import { alwaysLeaves, isStraight } from './control-flow.ts'
import { type Fact, Facts, Keys, lengthKey } from './facts.ts'
import { applyOperator, contains, type Interval, interval, join, meet, whole } from './interval.ts'
import { counterOf } from './loops.ts'

export type { Interval } from './interval.ts'

/** What integers can be where. */
export interface Ranges {
  /** The values an integer scalar expression can have; undefined for other types. */
  interval(e: Expression): Interval | undefined
  /** The index is one of the array, matrix or vector, whatever the input. */
  isInside(access: IndexPlace | Index): boolean
  /** Says of a copy of an access what is known of the original. */
  adopt(copy: IndexPlace, original: IndexPlace): void
  /** i32 arithmetic that never wraps around. */
  isExact(operation: Binary | CompoundAssign): boolean
}

/** Passes over a function after which bounds that still grow are given up. */
const passesBeforeWidening = 3
const mostPasses = 12

/** Finds the ranges of a module's integers: from built-in values, masks, loops and conditions. */
export function findRanges(module: IrModule): Ranges {
  const analysis = new RangeAnalysis(module)
  // Callers before callees: a parameter takes what its calls pass.
  for (const fn of [...module.functions].reverse()) analysis.run(fn)
  return analysis
}

class RangeAnalysis implements Ranges {
  readonly #module: IrModule
  readonly #keys = new Keys()
  readonly #parameters = new Map<Parameter, Components>()
  readonly #lets = new Map<number, Components>()
  readonly #variables = new Map<LocalVariable, Components>()
  readonly #intervals = new Map<Expression, Interval>()
  readonly #inside = new Map<IndexPlace | Index, boolean>()
  readonly #exact = new Map<object, boolean>()
  #recording = false
  #changed = false
  #pass = 0
  #callDepth = 0
  #facts = new Facts()

  constructor(module: IrModule) {
    this.#module = module
  }

  interval(e: Expression): Interval | undefined {
    if (e.kind === 'literal' && typeof e.value === 'number' && whole(e.type.scalar) !== undefined)
      return interval(e.value, e.value)
    return this.#intervals.get(e)
  }

  isInside(access: IndexPlace | Index): boolean {
    return this.#inside.get(access) ?? false
  }

  adopt(copy: IndexPlace, original: IndexPlace): void {
    this.#inside.set(copy, this.isInside(original))
  }

  isExact(operation: Binary | CompoundAssign): boolean {
    return this.#exact.get(operation) ?? false
  }

  run(fn: IrFunction): void {
    for (const p of fn.parameters)
      if (p.builtin !== undefined) this.#parameters.set(p, builtinComponents(this.#module, p))
    this.#recording = false
    for (this.#pass = 0; this.#pass < mostPasses; this.#pass++) {
      this.#changed = false
      this.#facts = new Facts()
      this.#statement(fn.body)
      if (!this.#changed) break
    }
    if (this.#changed) for (const [v] of this.#variables) this.#variables.set(v, wholeComponents(v.type)!)
    this.#recording = true
    this.#facts = new Facts()
    this.#statement(fn.body)
  }

  // -------------------------------------------------------------------------------------------------- statements

  #statement(s: Statement | undefined): void {
    if (s === undefined) return
    switch (s.kind) {
      case 'block':
        this.#block(s)
        return
      case 'let': {
        this.#keys.define(s.variable.id, s.value)
        const value = this.#value(s.value)
        if (value !== undefined) this.#lets.set(s.variable.id, value)
        return
      }
      case 'var': {
        const value = s.initial === undefined ? zeroComponents(s.variable.type) : this.#value(s.initial)
        if (value !== undefined) this.#assign(s.variable, value)
        return
      }
      case 'assign': {
        this.#place(s.target)
        const value = this.#value(s.value)
        this.#store(s.target, value)
        return
      }
      case 'compound-assign':
        this.#compound(s)
        return
      case 'swizzle-assign':
        this.#swizzleAssign(s)
        return
      case 'evaluate':
        this.#value(s.value)
        return
      case 'if':
        this.#value(s.condition)
        this.#under(this.#conditions(s.condition, true), [s.then], () => this.#statement(s.then))
        this.#under(this.#conditions(s.condition, false), [s.otherwise], () => this.#statement(s.otherwise))
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
        const facts = s.condition === undefined ? [] : this.#conditions(s.condition, true)
        const last = this.#lastCount(s)
        if (last !== undefined) facts.push(last)
        this.#under(facts, [s.body], () => {
          this.#statement(s.body)
          this.#statement(s.update)
        })
        return
      }
      case 'while':
        this.#value(s.condition)
        this.#under(this.#conditions(s.condition, true), [s.body], () => this.#statement(s.body))
        return
      case 'return':
        if (s.value !== undefined) this.#value(s.value)
        return
      case 'break':
      case 'continue':
        return
    }
  }

  /** Statements in order; after an `if` that leaves, its condition is known not to have held. */
  #block(block: Block): void {
    const outer = this.#facts
    for (const [i, s] of block.statements.entries()) {
      this.#statement(s)
      if (s.kind !== 'if') continue
      const rest = block.statements.slice(i + 1)
      if (alwaysLeaves(s.then))
        this.#facts = this.#facts.with(this.#conditions(s.condition, false), [s.otherwise, ...rest])
      if (s.otherwise !== undefined && alwaysLeaves(s.otherwise))
        this.#facts = this.#facts.with(this.#conditions(s.condition, true), [s.then, ...rest])
    }
    this.#facts = outer
  }

  /** A counter with a constant start and step stops short of its bound: 0, 8, 16, 24 below 32. */
  #lastCount(s: For): Fact | undefined {
    const c = counterOf(s)
    if (c?.step === undefined || c.step <= 0 || (c.operator !== '<' && c.operator !== '<=')) return undefined
    const from = this.#quiet(c.from)?.[0]
    const bound = this.#quiet(c.bound)?.[0]
    if (from === undefined || bound === undefined || from.low !== from.high) return undefined
    const most = c.operator === '<' ? bound.high - 1 : bound.high
    const high = from.low + c.step * Math.floor((most - from.low) / c.step)
    if (high < from.low) return undefined
    return {
      kind: 'interval',
      key: { text: `$${c.variable.id}`, variables: [c.variable] },
      range: interval(from.low, high),
    }
  }

  #under(facts: readonly Fact[], region: readonly (Statement | undefined)[], inside: () => void): void {
    const outer = this.#facts
    this.#facts = outer.with(facts, region)
    inside()
    this.#facts = outer
  }

  #compound(s: CompoundAssign): void {
    this.#place(s.target)
    const left = this.#loaded(s.target)
    const right = this.#value(s.value)
    this.#store(s.target, this.#operate(s, s.operator, left, right, s.target.type))
  }

  #swizzleAssign(s: SwizzleAssign): void {
    this.#place(s.target)
    const value = this.#value(s.value)
    if (s.target.kind !== 'variable' || s.target.variable.kind !== 'local-variable') return
    const known = this.#variables.get(s.target.variable)
    const all = wholeComponents(s.target.type)
    if (all === undefined) return
    const next = [...(known ?? all)]
    for (const [i, c] of s.components.entries())
      next[c] =
        s.operator === undefined && value !== undefined ? join(next[c]!, value[i] ?? all[c]!) : all[c]!
    this.#assign(s.target.variable, next)
  }

  /** Widens what a variable can be by what is stored in it. */
  #assign(variable: LocalVariable, value: Components): void {
    const known = this.#variables.get(variable)
    if (known === undefined) {
      this.#variables.set(variable, value)
      this.#changed = true
      return
    }
    const all = wholeComponents(variable.type)!
    let grew = false
    const next = known.map((k, c) => {
      const v = value[c] ?? value[0]!
      if (contains(k, v)) return k
      grew = true
      if (this.#pass < passesBeforeWidening) return join(k, v)
      // Zero is a likely bound for what shrinks: one more guess before none.
      const low = v.low >= k.low ? k.low : v.low >= 0 && k.low > 0 ? 0 : all[c]!.low
      return interval(low, v.high > k.high ? all[c]!.high : k.high)
    })
    if (!grew) return
    this.#variables.set(variable, next)
    this.#changed = true
  }

  #store(target: Place, value: Components | undefined): void {
    const root = rootOf(target)
    if (root.kind !== 'variable' || root.variable.kind !== 'local-variable') return
    const all = wholeComponents(root.variable.type)
    if (all === undefined) return
    if (target.kind === 'variable') {
      this.#assign(root.variable, value ?? all)
      return
    }
    const known = this.#variables.get(root.variable) ?? all
    const stored = value?.[0]
    const next = known.map((k, c) => {
      if (target.kind === 'component-place' && target.component !== c) return k
      return stored === undefined ? all[c]! : join(k, stored)
    })
    this.#assign(root.variable, next)
  }

  // --------------------------------------------------------------------------------------------------- conditions

  /** What follows when a condition is `truth`. */
  #conditions(e: Expression, truth: boolean): Fact[] {
    if (e.kind === 'logical' && (e.operator === '&&') === truth)
      return [...this.#conditions(e.left, truth), ...this.#conditions(e.right, truth)]
    if (
      e.kind === 'binary' &&
      e.type.kind === 'scalar' &&
      e.type.scalar === 'bool' &&
      (e.operator === '&' || e.operator === '|') &&
      (e.operator === '&') === truth
    )
      return [...this.#conditions(e.left, truth), ...this.#conditions(e.right, truth)]
    if (e.kind === 'unary' && e.operator === '!') return this.#conditions(e.value, !truth)
    if (e.kind === 'value' && e.value.kind === 'let-value') {
      const definition = this.#keys.definition(e.value.id)
      return definition === undefined
        ? []
        : this.#conditions(definition, truth).filter(
            (f) => f.key.variables.length === 0 && (f.kind !== 'less' || f.than.variables.length === 0),
          )
    }
    if (e.kind === 'builtin-call' && (e.name === 'all' || e.name === 'any') && (e.name === 'all') === truth) {
      const inner = e.args[0]!
      if (inner.kind !== 'binary' || inner.left.type?.kind !== 'vector') return []
      const { left, right } = inner
      return Array.from({ length: inner.left.type.size }, (_, c) =>
        this.#comparison(inner.operator, left, right, c, truth),
      ).flat()
    }
    if (e.kind === 'binary' && e.left.type?.kind === 'scalar')
      return this.#comparison(e.operator, e.left, e.right, 0, truth)
    return []
  }

  #comparison(
    operator: BinaryOperator,
    left: Expression,
    right: Expression,
    c: number,
    truth: boolean,
  ): Fact[] {
    const opposite: Partial<Record<BinaryOperator, BinaryOperator>> = {
      '<': '>=',
      '<=': '>',
      '>': '<=',
      '>=': '<',
      '==': '!=',
      '!=': '==',
    }
    const relation = truth ? operator : opposite[operator]
    const a = this.#quiet(left)?.[c] ?? this.#quiet(left)?.[0]
    const b = this.#quiet(right)?.[c] ?? this.#quiet(right)?.[0]
    if (relation === undefined || a === undefined || b === undefined) return []
    const key = (e: Expression) => (e.type?.kind === 'vector' ? this.#keys.component(e, c) : this.#keys.of(e))
    const facts: Fact[] = []
    const bound = (e: Expression, low: number, high: number) => {
      const k = e.kind === 'literal' ? undefined : key(e)
      if (k !== undefined && low <= high) facts.push({ kind: 'interval', key: k, range: interval(low, high) })
    }
    const less = (x: Expression, y: Expression, xRange: Interval, yRange: Interval) => {
      bound(x, -Infinity, yRange.high - 1)
      bound(y, xRange.low + 1, Infinity)
      const k = key(x)
      const parts = y.kind === 'builtin-call' && y.name === 'min' ? y.args : [y]
      for (const part of parts) {
        const than = part.type?.kind === 'vector' ? this.#keys.component(part, c) : this.#keys.of(part)
        if (k !== undefined && than !== undefined) facts.push({ kind: 'less', key: k, than })
      }
    }
    const notMore = (x: Expression, y: Expression, xRange: Interval, yRange: Interval) => {
      bound(x, -Infinity, yRange.high)
      bound(y, xRange.low, Infinity)
    }
    if (relation === '<') less(left, right, a, b)
    else if (relation === '>') less(right, left, b, a)
    else if (relation === '<=') notMore(left, right, a, b)
    else if (relation === '>=') notMore(right, left, b, a)
    else if (relation === '==') {
      bound(left, b.low, b.high)
      bound(right, a.low, a.high)
    } else if (relation === '!=' && b.low === b.high) {
      if (a.low === b.low) bound(left, a.low + 1, Infinity)
      if (a.high === b.low) bound(left, -Infinity, a.high - 1)
    }
    return facts
  }

  /** A value again, without recording. */
  #quiet(e: Expression): Components | undefined {
    const recording = this.#recording
    this.#recording = false
    const value = this.#value(e)
    this.#recording = recording
    return value
  }

  // -------------------------------------------------------------------------------------------------- expressions

  #value(e: Expression): Components | undefined {
    const computed = this.#compute(e)
    if (computed === undefined) return undefined
    const refined = this.#refine(e, computed)
    if (this.#recording && refined.length === 1 && e.type?.kind === 'scalar') {
      const known = this.#intervals.get(e)
      this.#intervals.set(e, known === undefined ? refined[0]! : join(known, refined[0]!))
    }
    return refined
  }

  #refine(e: Expression, value: Components): Components {
    if (value.length > 1)
      return value.map((v, c) => {
        const key = this.#keys.component(e, c)
        const fact = key === undefined ? undefined : this.#facts.range(key)
        return fact === undefined ? v : meet(v, fact)
      })
    const key = e.kind === 'literal' ? undefined : this.#keys.of(e)
    const fact = key === undefined ? undefined : this.#facts.range(key)
    return fact === undefined ? value : [meet(value[0]!, fact)]
  }

  #compute(e: Expression): Components | undefined {
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
        return this.#convert(e.value, e.type)
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
        const root = rootOf(e.place)
        if (root.kind === 'variable' && root.variable.kind === 'local-variable') {
          const all = wholeComponents(root.variable.type)
          if (all !== undefined) this.#assign(root.variable, all)
        }
        return undefined
      }
      case 'member':
        this.#value(e.base)
        return wholeComponents(e.type)
      case 'index': {
        const base = this.#value(e.base)
        const index = this.#value(e.index)?.[0]
        const type = e.base.type!
        const length =
          type.kind === 'vector'
            ? type.size
            : type.kind === 'matrix'
              ? type.columns
              : type.kind === 'array'
                ? type.length
                : undefined
        this.#recordInside(
          e,
          length !== undefined && index !== undefined && index.low >= 0 && index.high < length,
        )
        if (base !== undefined && type.kind === 'vector') return [base.reduce(join)]
        return constantElements(e.base) ?? wholeComponents(e.type)
      }
      case 'swizzle': {
        const base = this.#value(e.base)
        return base && e.components.map((c) => base[c]!)
      }
      case 'unary': {
        const value = this.#value(e.value)
        if (value === undefined || e.operator === '!') return undefined
        const scalar = scalarOf(e.type)
        return value.map((v) => {
          const all = whole(scalar)!
          const result =
            e.operator === '-'
              ? interval(-v.high, -v.low)
              : scalar === 'u32'
                ? interval(all.high - v.high, all.high - v.low)
                : interval(-1 - v.high, -1 - v.low)
          return contains(all, result) ? result : all
        })
      }
      case 'binary': {
        const left = this.#value(e.left)
        const right = this.#value(e.right)
        return this.#operate(e, e.operator, left, right, e.type)
      }
      case 'logical': {
        this.#value(e.left)
        const facts = this.#conditions(e.left, e.operator === '&&')
        this.#under(facts, [], () => this.#value(e.right))
        return undefined
      }
      case 'builtin-call':
        return this.#builtin(e)
      case 'call':
        return this.#call(e)
    }
  }

  #convert(value: Expression, type: Type): Components | undefined {
    const from = this.#value(value)
    const all = wholeComponents(type)
    if (all === undefined) return undefined
    const source = value.type!
    if (source.kind === 'scalar' && source.scalar === 'bool') return all.map(() => interval(0, 1))
    if (source.kind === 'vector' && source.scalar === 'bool') return all.map(() => interval(0, 1))
    if (from === undefined || from.length !== all.length) return all
    return all.map((a, c) => (contains(a, from[c]!) ? from[c]! : a))
  }

  #operate(
    node: Binary | CompoundAssign,
    operator: BinaryOperator,
    left: Components | undefined,
    right: Components | undefined,
    type: Type,
  ): Components | undefined {
    const all = wholeComponents(type)
    if (all === undefined) return undefined
    if (left === undefined || right === undefined) return all
    const scalar = scalarOf(type)
    let exact = true
    const result = all.map((a, c) => {
      const r = applyOperator(operator, left[c] ?? left[0]!, right[c] ?? right[0]!, scalar)
      exact &&= r?.exact ?? false
      return r?.range ?? a
    })
    if (this.#recording) this.#exact.set(node, (this.#exact.get(node) ?? true) && exact)
    return result
  }

  #loaded(place: Place): Components | undefined {
    const all = wholeComponents(place.type)
    if (all === undefined) return undefined
    let value = all
    if (place.kind === 'variable' && place.variable.kind === 'local-variable')
      value = [...(this.#variables.get(place.variable) ?? all)]
    if (
      place.kind === 'component-place' &&
      place.base.kind === 'variable' &&
      place.base.variable.kind === 'local-variable'
    ) {
      const known = this.#variables.get(place.base.variable)?.[place.component]
      if (known !== undefined) value = [known]
    }
    const load: Expression = { kind: 'load', place, type: place.type, loc: place.loc }
    return this.#refine(load, value)
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
      case 'index-place': {
        this.#place(place.base)
        const index = this.#value(place.index)?.[0]
        const type = place.base.type
        if (type.kind === 'array' && type.length === undefined) {
          const root = rootOf(place)
          const key = this.#keys.of(place.index)
          this.#recordInside(
            place,
            key !== undefined &&
              root.kind === 'variable' &&
              index !== undefined &&
              index.low >= 0 &&
              this.#facts.isLess(key, lengthKey(root.variable.id)),
          )
          return
        }
        const length =
          type.kind === 'vector'
            ? type.size
            : type.kind === 'matrix'
              ? type.columns
              : type.kind === 'array'
                ? type.length!
                : 0
        this.#recordInside(place, index !== undefined && index.low >= 0 && index.high < length)
        return
      }
    }
  }

  #recordInside(access: IndexPlace | Index, inside: boolean): void {
    if (this.#recording) this.#inside.set(access, (this.#inside.get(access) ?? true) && inside)
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

  /** What a function of lets, ifs and returns gives for these arguments. */
  #returned(fn: IrFunction, args: readonly (Components | undefined)[]): Components | undefined {
    if (this.#callDepth >= 8 || !isStraight(fn.body)) return undefined
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
    let result: Components | undefined
    let isKnown = true
    const visit = (block: Block): void => {
      for (const s of block.statements) {
        if (s.kind === 'let') {
          const value = this.#value(s.value)
          if (value === undefined) this.#lets.delete(s.variable.id)
          else this.#lets.set(s.variable.id, value)
        } else if (s.kind === 'if') {
          visit(s.then)
          if (s.otherwise !== undefined) visit(s.otherwise)
        } else if (s.kind === 'block') visit(s)
        else if (s.kind === 'return') {
          const value = s.value && this.#value(s.value)
          if (value === undefined) isKnown = false
          else result = result === undefined ? value : result.map((r, c) => join(r, value[c]!))
        }
      }
    }
    visit(fn.body)
    this.#callDepth--
    for (const [i, p] of fn.parameters.entries()) {
      const old = saved[i]
      if (old === undefined) this.#parameters.delete(p)
      else this.#parameters.set(p, old)
    }
    this.#recording = recording
    this.#facts = facts
    return isKnown ? result : undefined
  }
}
