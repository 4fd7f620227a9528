import type { BinaryOperator, Expression, For } from '../ir.ts'
import type { Components } from './component-ranges.ts'
import type { Fact, Keys } from './facts.ts'
import { type Interval, interval } from './interval.ts'
import { counterOf } from './loops.ts'

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
  readonly #keys: Keys
  readonly #rangeOf: (e: Expression) => Components | undefined

  constructor(keys: Keys, rangeOf: (e: Expression) => Components | undefined) {
    this.#keys = keys
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
      const definition = this.#keys.definition(e.value.id)
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

  /** What holds in a loop's body: its condition, and the last value of its counter. */
  inside(loop: For): Fact[] {
    const facts = loop.condition === undefined ? [] : this.of(loop.condition, true)
    const last = this.#lastCount(loop)
    if (last !== undefined) facts.push(last)
    return facts
  }

  /** A counter with a constant start and step stops short of its bound: 0, 8, 16, 24 below 32. */
  #lastCount(loop: For): Fact | undefined {
    const c = counterOf(loop)
    if (c?.step === undefined || c.step <= 0 || (c.operator !== '<' && c.operator !== '<=')) return undefined
    const from = this.#rangeOf(c.from)?.[0]
    const bound = this.#rangeOf(c.bound)?.[0]
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
