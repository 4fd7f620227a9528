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
  /** The trip count if only the condition ends the loop; set if it is known and always the same. */
  readonly exactTrips: number | undefined
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
  const { initial, condition, update, body } = loop
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
  const moving = highChange === 0 ? low : high
  const isFirst = initial?.kind === 'var' && initial.variable === variable
  const first =
    isFirst && moving.kind === 'load' && isVariable(moving.place, variable) ? initial.initial : undefined
  const valuesOf = (side: Expression) => intervalOf(side === moving ? (first ?? side) : side) ?? range
  const [lows, highs] = [valuesOf(low), valuesOf(high)]
  const apart = isStrict ? 1 : 0
  // Whether the moving side stays in the range of its type until the end of the last iteration.
  const fits =
    highChange === 0 ? highs.high - apart + step <= range.high : lows.low + apart - step >= range.low
  const mostTrips = fits ? Math.max(Math.floor((highs.high - lows.low - apart) / step) + 1, 0) : undefined
  const isExact = first !== undefined && lows.low === lows.high && highs.low === highs.high
  const exactTrips = isExact ? mostTrips : undefined
  return { low, high, isStrict, step, mostTrips, exactTrips }
}

/** Whether a place is a whole variable. */
export function isVariable(place: Place, variable: LocalVariable | ModuleVariable): boolean {
  return place.kind === 'variable' && place.variable === variable
}
