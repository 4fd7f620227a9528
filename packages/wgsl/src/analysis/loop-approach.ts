import type { Expression, For, LocalVariable, ModuleVariable, Place } from '../ir.ts'
import type { Assignments } from './assignments.ts'
import { scalarOf } from './component-ranges.ts'
import { type IntervalOf, whole } from './interval.ts'
import type { Atom, LinearForms } from './linear-form.ts'

/**
 * How a `for` loop approaches its end: its condition is `low < high` (or `low <= high`), and every iteration
 * reduces the difference by `step`, because `low` rises or `high` falls. As long as neither wraps around, the
 * condition holds for the next `(high - low - 1) / step + 1` iterations (without the `- 1` for `<=`). Neither
 * side has effects or changes in any other way.
 */
export interface LoopApproach {
  readonly low: Expression
  readonly high: Expression
  readonly isStrict: boolean
  readonly step: number
  /**
   * The maximum trip count; set if no iteration makes a side exceed the range of its type, so that the loop
   * ends.
   */
  readonly mostTrips: number | undefined
  /**
   * Whether `mostTrips` is known, the side that changes is the variable itself, and the distance of the sides is
   * limited as for `LoopCounter.isCountable`.
   */
  readonly isCountable: boolean
}

/**
 * Finds the approach of a loop of this form: the condition compares two scalar integers that are sums of
 * variables times constants; the update adds a literal to or subtracts it from a local variable, declared
 * anywhere; the body assigns neither that variable nor another of the condition; and exactly one side
 * contains the variable, with the sign that moves it towards the other. Returns undefined for any other loop.
 */
export function loopApproach(
  loop: For,
  assignments: Assignments,
  forms: LinearForms,
  intervalOf: IntervalOf,
): LoopApproach | undefined {
  const { condition, update, body } = loop
  if (condition?.kind !== 'binary' || update?.kind !== 'compound-assign') return undefined
  const { target, value, operator } = update
  if (target.kind !== 'variable' || target.variable.kind !== 'local-variable') return undefined
  if (value.kind !== 'literal' || (operator !== '+' && operator !== '-')) return undefined
  const { variable } = target
  const range = whole(scalarOf(condition.left.type))
  const rises = condition.operator === '<' || condition.operator === '<='
  if (range === undefined || !(rises || condition.operator === '>' || condition.operator === '>='))
    return undefined
  const [low, high] = rises ? [condition.left, condition.right] : [condition.right, condition.left]
  const added = Math.imul(Number(value.value), operator === '+' ? 1 : -1)
  const change = (e: Expression): number | undefined => {
    const form = forms.of(e)
    if (form === undefined || ![...form.terms.keys()].every(changesWithUpdateOnly)) return undefined
    const coefficient = [...form.terms].find(([atom]) => atom.variable === variable)?.[1] ?? 0
    return Math.imul(coefficient, added)
  }
  const changesWithUpdateOnly = (atom: Atom) =>
    atom.variable === variable ||
    atom.variables.every((v) => v !== variable && !assignments.isAssigned(body, v))
  if (assignments.isAssigned(body, variable)) return undefined
  const [lowChange, highChange] = [change(low), change(high)]
  if (lowChange === undefined || highChange === undefined) return undefined
  if ((lowChange === 0) === (highChange === 0) || lowChange < 0 || highChange > 0) return undefined
  const step = lowChange - highChange
  const isStrict = condition.operator.length === 1
  const [lows, highs] = [intervalOf(low) ?? range, intervalOf(high) ?? range]
  const apart = isStrict ? 1 : 0
  // Whether the moving side stays in the range of its type until the end of the last iteration.
  const fits =
    highChange === 0 ? highs.high - apart + step <= range.high : lows.low + apart - step >= range.low
  const distance = highs.high - lows.low - apart
  const mostTrips = fits ? Math.max(Math.floor(distance / step) + 1, 0) : undefined
  const moving = highChange === 0 ? low : high
  const isPlain = moving.kind === 'load' && isVariable(moving.place, variable)
  const isCountable = fits && isPlain && countsWithin(range.high, distance, step)
  return { low, high, isStrict, step, mostTrips, isCountable }
}

/**
 * Whether a compiler that ignores overflow counts rightly, by up to four steps at a time, over at most this
 * distance, in a type with the maximum value `limit`.
 */
export function countsWithin(limit: number, distance: number, step: number): boolean {
  return Math.max(distance, 3 * step) + step <= limit
}

/**
 * The maximum trip count of `for (var s = first; s < bound; s *= 2u)`, with any literal factor of at least 2,
 * if the first value is above zero, no product wraps around, and the body does not assign `s`. Undefined for
 * any other loop.
 */
export function mostDoublings(
  { initial, condition, update, body }: For,
  assignments: Assignments,
  intervalOf: IntervalOf,
): number | undefined {
  if (initial?.kind !== 'var' || initial.initial === undefined) return undefined
  if (condition?.kind !== 'binary' || (condition.operator !== '<' && condition.operator !== '<='))
    return undefined
  if (update?.kind !== 'compound-assign' || update.operator !== '*' || update.value.kind !== 'literal')
    return undefined
  const { variable } = initial
  if (!isVariable(update.target, variable) || condition.left.kind !== 'load') return undefined
  if (!isVariable(condition.left.place, variable)) return undefined
  if (assignments.isAssigned(body, variable) || assignments.isAssigned(condition, variable)) return undefined
  const range = whole(scalarOf(variable.type))
  const [first, bound] = [intervalOf(initial.initial), intervalOf(condition.right)]
  const factor = Number(update.value.value)
  if (range === undefined || first === undefined || bound === undefined || factor < 2) return undefined
  const highest = bound.high - (condition.operator === '<' ? 1 : 0)
  if (first.low < 1 || highest * factor > range.high) return undefined
  let rounds = 0
  for (let value = first.low; value <= highest; value *= factor) rounds++
  return rounds
}

/** Whether a place is a whole variable. */
export function isVariable(place: Place, variable: LocalVariable | ModuleVariable): boolean {
  return place.kind === 'variable' && place.variable === variable
}
