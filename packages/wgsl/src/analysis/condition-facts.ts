import type { BinaryOperator, Expression, For, Place } from '../ir.ts'
import type { Assignments } from './assignments.ts'
import type { Components } from './component-ranges.ts'
import type { Fact } from './facts.ts'
import { type Interval, interval } from './interval.ts'
import type { LinearForms } from './linear-form.ts'
import { loopCounter } from './loop-counter.ts'

const opposite: Partial<Record<BinaryOperator, BinaryOperator>> = {
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
  '==': '!=',
  '!=': '==',
}

/** Finds what conditions say of integers, given the values that their operands can have. */
export class ConditionFacts {
  readonly #forms: LinearForms
  readonly #assignments: Assignments
  readonly #rangeOf: (e: Expression) => Components | undefined

  constructor(
    forms: LinearForms,
    assignments: Assignments,
    rangeOf: (e: Expression) => Components | undefined,
  ) {
    this.#forms = forms
    this.#assignments = assignments
    this.#rangeOf = rangeOf
  }

  /** What follows when a condition is `truth`. */
  of(e: Expression, truth: boolean): Fact[] {
    if (e.kind === 'logical' && (e.operator === '&&') === truth)
      return [...this.of(e.left, truth), ...this.of(e.right, truth)]
    if (
      e.kind === 'binary' &&
      e.type.kind === 'scalar' &&
      e.type.scalar === 'bool' &&
      (e.operator === '&' || e.operator === '|') &&
      (e.operator === '&') === truth
    )
      return [...this.of(e.left, truth), ...this.of(e.right, truth)]
    if (e.kind === 'unary' && e.operator === '!') return this.of(e.value, !truth)
    if (e.kind === 'value' && e.value.kind === 'let-value') {
      const definition = this.#forms.definition(e.value.id)
      return definition === undefined
        ? []
        : this.of(definition, truth).filter(
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

  /** What holds in a loop's body: its condition, and the values of its counter. */
  inside(loop: For): Fact[] {
    const facts = loop.condition === undefined ? [] : this.of(loop.condition, true)
    const counter = loopCounter(loop, this.#assignments, (e) => this.#rangeOf(e)?.[0])
    if (counter?.values !== undefined) {
      const { variable, values } = counter
      const place: Place = { kind: 'variable', variable, type: variable.type, loc: variable.loc }
      facts.push({ kind: 'interval', key: this.#forms.placeKey(place)!, range: values })
    }
    return facts
  }

  /** What follows when component `c` of `left operator right` is `truth`. */
  #comparison(
    operator: BinaryOperator,
    left: Expression,
    right: Expression,
    c: number,
    truth: boolean,
  ): Fact[] {
    const relation = truth ? operator : opposite[operator]
    const a = this.#rangeOf(left)?.[c] ?? this.#rangeOf(left)?.[0]
    const b = this.#rangeOf(right)?.[c] ?? this.#rangeOf(right)?.[0]
    if (relation === undefined || a === undefined || b === undefined) return []
    const key = (e: Expression) =>
      e.type?.kind === 'vector' ? this.#forms.componentKey(e, c) : this.#forms.key(e)
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
        const than = key(part)
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
}
