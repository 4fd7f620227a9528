import type { Expression, For, LocalVariable, Loop } from '../ir.ts'
import type { Assignments } from './assignments.ts'
import { scalarOf } from './component-ranges.ts'
import { type Interval, type IntervalOf, whole } from './interval.ts'
import type { LinearForms } from './linear-form.ts'
import { isVariable, type LoopApproach, loopApproach } from './loop-approach.ts'

/**
 * The counter of a loop `for (var i = first; i < bound; i += step)`, or with `<=`, where the step is a
 * literal above 0 and nothing else changes `i`. All numbers are mathematical integers without wrap-around.
 * For `for (var s = first; s > bound; s /= 2)` the trip count is known if both ends are, and for
 * `for (var s = first; s < bound; s *= 2)` its maximum if the first value is above 0 and no product wraps around.
 */
export interface LoopCounter {
  readonly variable: LocalVariable
  readonly first: Expression
  /** Undefined if the counter is divided or multiplied. */
  readonly step: number | undefined
  /** The values of the counter in the body; undefined if it may wrap around or too little is known. */
  readonly values: Interval | undefined
  /** The number of times the body is entered if only the condition ends the loop; undefined if unknown. */
  readonly trips: { readonly most: number; readonly isExact: boolean } | undefined
}

/** The counter of a `for` loop; undefined for a loop of another form. */
export function loopCounter(
  loop: For,
  assignments: Assignments,
  intervalOf: IntervalOf,
): LoopCounter | undefined {
  const { initial, condition, update } = loop
  if (initial?.kind !== 'var' || initial.initial === undefined) return undefined
  if (condition?.kind !== 'binary' || update?.kind !== 'compound-assign') return undefined
  const { variable } = initial
  if (!isVariable(update.target, variable) || update.value.kind !== 'literal') return undefined
  if (condition.left.kind !== 'load' || !isVariable(condition.left.place, variable)) return undefined
  if (assignments.isAssigned(loop.body, variable) || assignments.isAssigned(condition, variable))
    return undefined
  const [first, bound] = [intervalOf(initial.initial), intervalOf(condition.right)]
  const limit = whole(scalarOf(variable.type))?.high
  if (first === undefined || bound === undefined || limit === undefined) return undefined
  const counter = { variable, first: initial.initial }
  const { operator } = condition
  const amount = Number(update.value.value)
  const scaled = { ...counter, step: undefined, values: undefined }
  if (update.operator === '/' && operator === '>')
    return { ...scaled, trips: divisions(amount, first, bound) }
  if (amount <= 0 || (operator !== '<' && operator !== '<=')) return undefined
  const beyond = operator === '<' ? 1 : 0
  const last = { low: bound.low - beyond, high: bound.high - beyond }
  if (update.operator === '*') return { ...scaled, trips: multiplications(amount, first, last, limit) }
  if (update.operator !== '+') return undefined
  return { ...counter, step: amount, ...count(first, bound, beyond, amount, limit) }
}

/** The counters and trip counts of a module's loops, each computed once. */
export class LoopCounters {
  readonly #assignments: Assignments
  readonly #forms: LinearForms
  readonly #intervalOf: IntervalOf
  readonly #known = new Map<For, LoopCounter | undefined>()
  readonly #approaches = new Map<For, LoopApproach | undefined>()

  constructor(assignments: Assignments, forms: LinearForms, intervalOf: IntervalOf) {
    this.#assignments = assignments
    this.#forms = forms
    this.#intervalOf = intervalOf
  }

  of(loop: For): LoopCounter | undefined {
    if (!this.#known.has(loop)) this.#known.set(loop, loopCounter(loop, this.#assignments, this.#intervalOf))
    return this.#known.get(loop)
  }

  /** How the two sides of the loop's condition approach each other. */
  approach(loop: For): LoopApproach | undefined {
    if (!this.#approaches.has(loop))
      this.#approaches.set(loop, loopApproach(loop, this.#assignments, this.#forms, this.#intervalOf))
    return this.#approaches.get(loop)
  }

  /** The trip count, if it is the same for every invocation and every execution of the loop. */
  exactTrips(loop: For): number | undefined {
    const trips = this.of(loop)?.trips
    return trips?.isExact ? trips.most : this.approach(loop)?.exactTrips
  }

  /** The maximum trip count of the loop for any input; undefined if it may not end. */
  mostTrips(loop: For | Loop): number | undefined {
    if (loop.kind !== 'for') return undefined
    return this.of(loop)?.trips?.most ?? this.approach(loop)?.mostTrips
  }
}

/**
 * The values and trip count of a counter whose type has the maximum value `limit`. `beyond` is 1 if the bound
 * is not among them.
 */
function count(first: Interval, bound: Interval, beyond: number, step: number, limit: number) {
  const highest = bound.high - beyond
  const most = Math.max(Math.floor((highest - first.low) / step) + 1, 0)
  const least = Math.max(Math.floor((bound.low - beyond - first.high) / step) + 1, 0)
  const last = first.low === first.high ? first.low + step * (most - 1) : highest
  // The condition also compares the value after the last one.
  if (most > 0 && last + step > limit) return { values: undefined, trips: undefined }
  const values = most > 0 ? { low: first.low, high: last } : undefined
  return { values, trips: { most, isExact: most === least } }
}

/** The trip count of `for (var s = 1u; s < 64u; s *= 2u)`, whose bound is above the last value. */
function multiplications(factor: number, first: Interval, last: Interval, limit: number) {
  if (factor < 2 || first.low < 1 || last.high * factor > limit) return undefined
  let most = 0
  for (let value = first.low; value <= last.high; value *= factor) most++
  return { most, isExact: first.low === first.high && last.low === last.high }
}

/** The trip count of `for (var s = 64u; s > 0u; s /= 2u)`. */
function divisions(divisor: number, first: Interval, bound: Interval) {
  if (divisor < 2 || first.low !== first.high || bound.low !== bound.high || bound.low < 0) return undefined
  let most = 0
  for (let v = first.low; v > bound.low; v = Math.floor(v / divisor)) most++
  return { most, isExact: true }
}
