import type { Block, CompoundAssign, Expression, For, LocalVariable, Loop, Place, While } from '../ir.ts'
import { walkExpression } from '../walk.ts'
import type { Assignments } from './assignments.ts'
import { type Interval, type IntervalOf, whole } from './interval.ts'

/**
 * How a loop counts: `for (var i = first; i < bound; i += step)`, where nothing else changes `i`. All numbers are mathematical
 * integers, in which i32 and u32 have no wrap-around.
 */
export interface LoopCounter {
  readonly variable: LocalVariable
  readonly first: Expression
  readonly bound: Expression
  readonly relation: Relation
  /** Undefined when it is no constant. */
  readonly step: number | undefined
  /** The values that the counter has in the body; undefined when it may wrap around, or too little is known. */
  readonly values: Interval | undefined
  /** How often the body is entered when nothing but the condition ends the loop; undefined when unknown. */
  readonly trips: { readonly most: number; readonly isExact: boolean } | undefined
}

type Relation = '<' | '<=' | '>' | '>=' | '!='

const flipped = { '<': '>', '<=': '>=', '>': '<', '>=': '<=', '!=': '!=' } as const

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
  // A falling counter is a rising one below zero.
  const counted =
    step > 0
      ? count(counter.relation, first, bound, step, scalar.high)
      : count(flipped[counter.relation], negative(first), negative(bound), -step, -scalar.low)
  const values = counted.values && (step > 0 ? counted.values : negative(counted.values))
  return { ...counter, step, values, trips: counted.trips }
}

/** The counters of a module's loops, each found once. */
export class LoopCounters {
  readonly #assignments: Assignments
  readonly #intervalOf: IntervalOf
  readonly #known = new Map<For, LoopCounter | undefined>()

  constructor(assignments: Assignments, intervalOf: IntervalOf) {
    this.#assignments = assignments
    this.#intervalOf = intervalOf
  }

  of(loop: For): LoopCounter | undefined {
    if (!this.#known.has(loop)) this.#known.set(loop, loopCounter(loop, this.#assignments, this.#intervalOf))
    return this.#known.get(loop)
  }

  /** Repetitions, when they are the same for every invocation and each time. */
  exactTrips(loop: For): number | undefined {
    const trips = this.of(loop)?.trips
    return trips?.isExact ? trips.most : undefined
  }

  /** Does the loop need no guard against C++'s assumption that it ends? */
  endsByItself(loop: For | While | Loop): boolean {
    const counts = loop.kind === 'for' && this.of(loop)?.trips !== undefined
    return counts || endsByItself(loop, this.#assignments)
  }
}

/** A rising counter, that no type can hold above `limit`. */
function count(relation: Relation, first: Interval, bound: Interval, step: number, limit: number) {
  const unknown = { values: undefined, trips: undefined }
  if (relation === '!=') {
    const isOne = first.low === first.high && bound.low === bound.high
    // It has to meet its bound: it does in steps of one, from below.
    if (isOne ? bound.low < first.low || (bound.low - first.low) % step !== 0 : step !== 1) return unknown
    if (first.high > bound.low) return unknown
  } else if (relation === '>' || relation === '>=') {
    // It rises away from its bound, so it can only stop at once.
    const neverStarts = relation === '>' ? first.high <= bound.low : first.high < bound.low
    return neverStarts ? { values: undefined, trips: { most: 0, isExact: true } } : unknown
  }
  const beyond = relation === '<=' ? 0 : 1
  const highest = bound.high - beyond
  const most = Math.max(Math.floor((highest - first.low) / step) + 1, 0)
  const least = Math.max(Math.floor((bound.low - beyond - first.high) / step) + 1, 0)
  const last = first.low === first.high ? first.low + step * (most - 1) : highest
  // The value after the last is compared too.
  if (most > 0 && last + step > limit) return unknown
  const values = most > 0 && last >= first.low ? { low: first.low, high: last } : undefined
  return { values, trips: { most, isExact: most === least } }
}

/** Repetitions of `for (var s = 64u; s > 0u; s >>= 1u)` and its like with `/= 2`. */
function halvings(
  update: CompoundAssign,
  relation: Relation,
  first: Interval | undefined,
  bound: Interval | undefined,
): number | undefined {
  const value = update.value.kind === 'literal' ? Number(update.value.value) : 0
  const divisor = update.operator === '>>' ? 2 ** value : update.operator === '/' ? value : 1
  if (divisor < 2 || first === undefined || bound === undefined) return undefined
  if (first.low !== first.high || bound.low !== bound.high || first.low < 0) return undefined
  const holds = (v: number) =>
    relation === '>'
      ? v > bound.low
      : relation === '>='
        ? v >= bound.low
        : relation === '!=' && v !== bound.low
  let v = first.low
  for (let trips = 0; trips <= 32; trips++) {
    if (!holds(v)) return trips
    v = Math.floor(v / divisor)
  }
  return undefined
}

/**
 * Does the loop count in integers towards a bound that stays? Then it ends by itself and needs no guard, unless its counter wraps
 * around or an invariant step is zero, which no shipped loop can rule out: bounds come from uniforms.
 */
function endsByItself(loop: For | While | Loop, assignments: Assignments): boolean {
  switch (loop.kind) {
    case 'for': {
      const counter = loopCounter(loop, assignments, () => undefined)
      if (counter === undefined || !isInteger(counter.variable)) return false
      if (!assignments.isInvariant(counter.bound, loop.body) || reads(counter.bound, counter.variable))
        return false
      const step = counter.step ?? ((loop.update as CompoundAssign).operator === '-' ? -1 : 1)
      return (
        rises(counter.relation, true) === Math.sign(step) &&
        canStop(counter.relation, counter.bound, counter.variable)
      )
    }
    case 'while':
      return approaches(loop.condition, true, loop.body, loop.body, assignments)
    case 'loop': {
      const [first] = loop.body.statements
      const leaves =
        first?.kind === 'if' &&
        first.then.statements.length === 1 &&
        first.then.statements[0]!.kind === 'break'
      return (
        leaves && approaches(first.condition, false, loop.body, loop.continuing ?? loop.body, assignments)
      )
    }
  }
}

function isInteger({ type }: LocalVariable): boolean {
  return type.kind === 'scalar' && (type.scalar === 'i32' || type.scalar === 'u32')
}

/** Is there a value of the counter for which the relation does not hold? There is none below `k >= 0u`. */
function canStop(relation: string, bound: Expression, { type }: LocalVariable): boolean {
  const range = type.kind === 'scalar' ? whole(type.scalar) : undefined
  if (bound.kind !== 'literal' || range === undefined) return true
  const value = Number(bound.value)
  return !(relation === '<=' && value >= range.high) && !(relation === '>=' && value <= range.low)
}

function reads(e: Expression, variable: LocalVariable): boolean {
  let found = false
  walkExpression(e, {
    place(place) {
      if (isVariable(place, variable)) found = true
      return !found
    },
  })
  return found
}

/** The direction of a counter that a relation will stop: 1 when it must rise, -1 when it must fall; 0 when the relation does not tell. */
function rises(operator: string, goesOnWhile: boolean): number {
  const upwards = operator === '<' || operator === '<='
  const downwards = operator === '>' || operator === '>='
  return (upwards ? 1 : downwards ? -1 : 0) * (goesOnWhile ? 1 : -1)
}

/** Does the loop go on while a variable is on one side of an invariant bound, and is it moved to the other once in each repetition? */
function approaches(
  condition: Expression,
  goesOnWhile: boolean,
  body: Block,
  steps: Block,
  assignments: Assignments,
): boolean {
  if (condition.kind !== 'binary' || condition.left.kind !== 'load') return false
  const { place } = condition.left
  if (place.kind !== 'variable' || place.variable.kind !== 'local-variable') return false
  const { variable } = place
  if (!isInteger(variable)) return false
  const parts = steps === body ? [body] : [body, steps]
  if (parts.some((part) => !assignments.isInvariant(condition.right, part))) return false
  if (parts.reduce((n, part) => n + assignments.count(part, variable), 0) !== 1) return false
  const change = steps.statements.find((s) => assignments.isAssigned(s, variable))
  if (change?.kind !== 'compound-assign' || !isVariable(change.target, variable)) return false
  // A `continue` leads to the continuing part; without one it could pass the step by.
  if (steps === body && hasContinue(body)) return false
  const isSame = (e: Expression) =>
    parts.every((part) => assignments.isInvariant(e, part)) && !usesLetOf(e, body) && !usesLetOf(e, steps)
  const step = change.value.kind === 'literal' ? Number(change.value.value) : isSame(change.value) ? 1 : 0
  const direction = change.operator === '+' ? step : change.operator === '-' ? -step : 0
  const relation = goesOnWhile ? condition.operator : (negated[condition.operator] ?? '')
  return (
    direction !== 0 &&
    rises(condition.operator, goesOnWhile) === Math.sign(direction) &&
    canStop(relation, condition.right, variable)
  )
}

const negated: Partial<Record<string, string>> = { '<': '>=', '<=': '>', '>': '<=', '>=': '<' }

/** Does the expression use a let that the block declares, which each repetition computes anew? */
function usesLetOf(e: Expression, block: Block): boolean {
  const used = new Set<number>()
  walkExpression(e, {
    expression(x) {
      if (x.kind === 'value') used.add(x.value.id)
      return undefined
    },
  })
  return block.statements.some((s) => s.kind === 'let' && used.has(s.variable.id))
}

/** Does a `continue` of the loop with this body stand in it? */
export function hasContinue(body: Block): boolean {
  const has = (block: Block): boolean =>
    block.statements.some((s) => {
      if (s.kind === 'block') return has(s)
      if (s.kind === 'if') return has(s.then) || (s.otherwise !== undefined && has(s.otherwise))
      return s.kind === 'switch' ? s.clauses.some((c) => has(c.body)) : s.kind === 'continue'
    })
  return has(body)
}

function isVariable(place: Place, variable: LocalVariable): boolean {
  return place.kind === 'variable' && place.variable === variable
}

function negative(a: Interval): Interval {
  return { low: -a.high, high: -a.low }
}
