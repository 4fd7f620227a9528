import type { BinaryOperator, Expression, For, Place } from '../ir.ts'
import type { Assignments } from './assignments.ts'
import type { Components } from './component-ranges.ts'
import type { Fact } from './facts.ts'
import { interval } from './interval.ts'
import type { LinearForms } from './linear-form.ts'
import { loopCounter } from './loop-counter.ts'

const opposite: Partial<Record<BinaryOperator, BinaryOperator>> = {
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
}

/** Finds the facts about integers that follow from conditions, given the intervals of their operands. */
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

  /** The facts that hold if the condition has the value `truth`. */
  of(e: Expression, truth: boolean): Fact[] {
    if (e.kind === 'logical' && (e.operator === '&&') === truth)
      return [...this.of(e.left, truth), ...this.of(e.right, truth)]
    // Of operators on a boolean, only `!` has one operand.
    if (e.kind === 'unary') return this.of(e.value, !truth)
    return e.kind === 'binary' ? this.#comparison(e.operator, e.left, e.right, truth) : []
  }

  /** The facts that hold in a loop's body: those of its condition, and the interval of its counter. */
  inside(loop: For): Fact[] {
    const facts = loop.condition === undefined ? [] : this.of(loop.condition, true)
    const counter = loopCounter(loop, this.#assignments, (e) => this.#rangeOf(e)?.[0])
    if (counter?.values !== undefined) {
      const { variable, values } = counter
      const place: Place = { kind: 'variable', variable, type: variable.type, loc: variable.loc }
      facts.push({ key: this.#forms.placeKey(place)!, range: values })
    }
    return facts
  }

  /** The facts that hold if `left operator right` has the value `truth`. */
  #comparison(operator: BinaryOperator, left: Expression, right: Expression, truth: boolean): Fact[] {
    const relation = truth ? operator : (opposite[operator] ?? operator)
    const [low, high] = relation === '<' || relation === '<=' ? [left, right] : [right, left]
    const [lowRange] = this.#rangeOf(low) ?? []
    const [highRange] = this.#rangeOf(high) ?? []
    if (!(relation in opposite) || lowRange === undefined || highRange === undefined) return []
    const facts: Fact[] = []
    const bound = (e: Expression, from: number, to: number) => {
      const key = this.#forms.key(e)
      if (key !== undefined) facts.push({ key, range: interval(from, to) })
    }
    const isStrict = relation === '<' || relation === '>'
    bound(low, -Infinity, highRange.high - (isStrict ? 1 : 0))
    bound(high, lowRange.low + (isStrict ? 1 : 0), Infinity)
    return facts
  }
}
