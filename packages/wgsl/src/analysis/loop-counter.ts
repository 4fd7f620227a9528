import type { CompoundAssign, Expression, For, LocalVariable, Loop, Place, While } from '../ir.ts'
import type { Assignments } from './assignments.ts'
import { type Interval, type IntervalOf, whole } from './interval.ts'
import type { LinearForms } from './linear-form.ts'
import { type LoopApproach, loopApproach, mostDoublings } from './loop-approach.ts'

/**
 * How a loop counts: `for (var i = first; i < bound; i += step)`, where nothing else changes `i`. All numbers are mathematical
 * integers, in which i32 and u32 have no wrap-around.
 */
export interface LoopCounter {
  readonly variable: LocalVariable
  readonly first: Expression
  readonly bound: Expression
  readonly relation: Relation
  /** Undefined where it is not constant. */
  readonly step: number | undefined
  /** The values that the counter has in the body; undefined when it may wrap around, or too little is known. */
  readonly values: Interval | undefined
  /** How often the body is entered when nothing but the condition ends the loop; undefined when unknown. */
  readonly trips: { readonly most: number; readonly isExact: boolean } | undefined
}

type Relation = '<' | '<=' | '>' | '>='

const flipped = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const

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
  if (!isVariable(update.target, variable) || !(condition.operator in flipped)) return undefined
  if (assignments.isAssigned(loop.body, variable) || assignments.isAssigned(condition, variable))
    return undefined
  const operator = condition.operator as Relation
  const isLeft = condition.left.kind === 'load' && isVariable(condition.left.place, variable)
  const isRight = condition.right.kind === 'load' && isVariable(condition.right.place, variable)
  if (!isLeft && !isRight) return undefined
  const counter = {
    variable,
    first: initial.initial,
    bound: isLeft ? condition.right : condition.left,
    relation: isLeft ? operator : flipped[operator],
  }
  const sign = { '+': 1, '-': -1 }[update.operator as string]
  const first = intervalOf(counter.first)
  const bound = intervalOf(counter.bound)
  const scalar = variable.type.kind === 'scalar' ? whole(variable.type.scalar) : undefined
  if (sign === undefined) {
    const trips = halvings(update, counter.relation, first, bound)
    const exact = trips === undefined ? undefined : { most: trips, isExact: true }
    return trips === undefined ? undefined : { ...counter, step: undefined, values: undefined, trips: exact }
  }
  if (!assignments.isInvariant(update.value, loop.body)) return undefined
  const step = update.value.kind === 'literal' ? Number(update.value.value) * sign : undefined
  if (step === undefined || step === 0 || first === undefined || bound === undefined || scalar === undefined)
    return { ...counter, step, values: undefined, trips: undefined }
  // A falling counter is a rising one with the signs reversed.
  const counted =
    step > 0
      ? count(counter.relation, first, bound, step, scalar.high)
      : count(flipped[counter.relation], negative(first), negative(bound), -step, -scalar.low)
  const values = counted.values && (step > 0 ? counted.values : negative(counted.values))
  return { ...counter, step, values, trips: counted.trips }
}

/** How a module's loops count and end, each found once. */
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

  /** How the sides of the loop's condition come nearer to each other. */
  approach(loop: For): LoopApproach | undefined {
    if (!this.#approaches.has(loop))
      this.#approaches.set(loop, loopApproach(loop, this.#assignments, this.#forms, this.#intervalOf))
    return this.#approaches.get(loop)
  }

  /** The trip count, where it is the same for every invocation and every execution of the loop. */
  exactTrips(loop: For): number | undefined {
    const trips = this.of(loop)?.trips
    return trips?.isExact ? trips.most : undefined
  }

  /** The most rounds of the loop, whatever the input; undefined where it may have no end. */
  mostTrips(loop: For | While | Loop): number | undefined {
    if (loop.kind !== 'for') return undefined
    const counts = [
      this.of(loop)?.trips?.most,
      this.approach(loop)?.mostTrips,
      mostDoublings(loop, this.#assignments, this.#intervalOf),
    ]
    const known = counts.filter((count) => count !== undefined)
    return known.length > 0 ? Math.min(...known) : undefined
  }
}

/** The values and trips of a rising counter whose type holds nothing above `limit`. */
function count(relation: Relation, first: Interval, bound: Interval, step: number, limit: number) {
  const unknown = { values: undefined, trips: undefined }
  // The counter rises away from its bound.
  if (relation === '>' || relation === '>=') return unknown
  const beyond = relation === '<=' ? 0 : 1
  const highest = bound.high - beyond
  const most = Math.max(Math.floor((highest - first.low) / step) + 1, 0)
  const least = Math.max(Math.floor((bound.low - beyond - first.high) / step) + 1, 0)
  const last = first.low === first.high ? first.low + step * (most - 1) : highest
  // The condition also compares the value after the last one.
  if (most > 0 && last + step > limit) return unknown
  const values = most > 0 && last >= first.low ? { low: first.low, high: last } : undefined
  return { values, trips: { most, isExact: most === least } }
}

/** The trip count of `for (var s = 64u; s > 0u; s >>= 1u)`, and of the same with `/= 2u`. */
function halvings(
  update: CompoundAssign,
  relation: Relation,
  first: Interval | undefined,
  bound: Interval | undefined,
): number | undefined {
  const value = update.value.kind === 'literal' ? Number(update.value.value) : 0
  const divisor = update.operator === '>>' ? 2 ** value : update.operator === '/' ? value : 1
  if (divisor < 2 || first === undefined || bound === undefined) return undefined
  if (first.low !== first.high || bound.low !== bound.high || bound.low < 0) return undefined
  if (relation !== '>') return undefined
  let trips = 0
  for (let v = first.low; v > bound.low; v = Math.floor(v / divisor)) trips++
  return trips
}

function isVariable(place: Place, variable: LocalVariable): boolean {
  return place.kind === 'variable' && place.variable === variable
}

function negative(a: Interval): Interval {
  return { low: -a.high, high: -a.low }
}
