import { analyse } from '../analysis/analyses.ts'
import { findZeroInit } from '../analysis/zero-init.ts'
import { isBarrier } from '../collectives.ts'
import { type AsyncCopies, findAsyncCopies } from '../cuda/async-copies.ts'
import type {
  BuiltinCall,
  IrModule,
  Location,
  ModuleVariable,
  Place,
  Return,
  Type,
  VariablePlace,
} from '../ir.ts'
import type { ExecutionObserver } from '../reference/index.ts'
import { scalarType, vectorType } from '../types.ts'
import { findDivergentCalls } from '../validity/uniformity.ts'
import { type PlaceUse, rootOf, walk } from '../walk.ts'

/** Compares a run of the reference executor with the claims of the analyses of a module. */
export interface FactChecker {
  readonly observer: ExecutionObserver
  /** Claims that a run contradicts, as sentences, without duplicates. */
  readonly failures: ReadonlySet<string>
}

/**
 * Creates a checker of these claims:
 *
 * - each integer is in its interval, an index that is marked as inside is in bounds, and an operation that
 *   is marked as exact does not wrap around;
 * - a loop that ends by its condition has run as often as its trip count;
 * - between an asynchronous copy and the wait for it, the invocation accesses the variable only by such copies
 *   into other elements, and it waits at each barrier that a copy can reach;
 * - workgroup memory that is not zeroed is written before it is read;
 * - all invocations of a workgroup make the same barrier calls, in the same order, and all invocations of a
 *   subgroup the same subgroup operations, except those that a filter allows in divergent control flow.
 */
export function factChecker(module: IrModule): FactChecker {
  const analyses = analyse(module)
  const { ranges, counters } = analyses
  const failures = new Set<string>()
  const fail: Fail = (loc, what) => failures.add(`line ${loc.line}, column ${loc.column}: ${what}`)
  const copies = new CopyChecker(module, findAsyncCopies(module, analyses), fail)
  const zeroing = new ZeroChecker(module, findZeroInit(module, analyses), fail)
  const traces = new TraceChecker(fail)
  const divergent = findDivergentCalls(module)
  return {
    failures,
    observer: {
      reached(statement, invocation) {
        if (statement.kind === 'return') copies.returned(statement, invocation)
      },
      called(call, invocation) {
        if (isBarrier(call.name)) copies.met(call, invocation)
        if (!divergent.has(call)) traces.met(call, invocation)
      },
      touched(place, path, use, invocation) {
        copies.touched(place, path, invocation)
        zeroing.touched(place, path, use, invocation)
      },
      value(e, value) {
        const range = ranges.interval(e)
        if (range !== undefined && (value < range.low || value > range.high))
          fail(e.loc, `a ${e.kind} is ${value}, outside [${range.low}, ${range.high}]`)
      },
      indexed(access, index, length) {
        if (ranges.isInside(access) && (index < 0 || index >= length))
          fail(access.loc, `an index called inside is ${index} of ${length}`)
      },
      left(loop, repetitions) {
        const exact = counters.exactTrips(loop)
        if (exact !== undefined && repetitions !== exact)
          fail(loop.loc, `a loop of exactly ${exact} repetitions has ${repetitions}`)
        const most = counters.mostTrips(loop)
        if (most !== undefined && repetitions > most)
          fail(loop.loc, `a loop that ends after ${most} repetitions has ${repetitions}`)
      },
    },
  }
}

type Fail = (loc: Location, what: string) => void

function variableOf(place: Place): ModuleVariable {
  return (rootOf(place) as VariablePlace).variable as ModuleVariable
}

class CopyChecker {
  readonly #claims: AsyncCopies
  readonly #fail: Fail
  readonly #targets: ReadonlySet<Place>
  readonly #variables: ReadonlySet<ModuleVariable>
  /**
   * For each invocation, the elements that are targets of pending copies, with the number of barriers since,
   * and the variables accessed otherwise since the last barrier.
   */
  readonly #pending = new WeakMap<object, Map<ModuleVariable, Map<string, number>>>()
  /**
   * For each workgroup, the variables with pending copies that an invocation began before its last barrier.
   */
  readonly #late = new WeakMap<object, Map<object, { barriers: number; variables: Set<ModuleVariable> }>>()
  readonly #barriers = new WeakMap<object, number>()
  readonly #touched = new WeakMap<object, Set<ModuleVariable>>()
  /** The returns of the entry point. */
  readonly #ends = new Set<Return>()

  constructor({ entryPoint }: IrModule, claims: AsyncCopies, fail: Fail) {
    this.#claims = claims
    walk(entryPoint, {
      statement: (s) => {
        if (s.kind === 'return') this.#ends.add(s)
        return undefined
      },
    })
    this.#fail = fail
    this.#targets = new Set([...claims.copies].map((s) => s.target))
    this.#variables = new Set([...this.#targets].map(variableOf))
  }

  touched(place: Place, path: readonly number[], invocation: object): void {
    const variable = variableOf(place)
    if (!this.#variables.has(variable)) return
    const all = entry(this.#pending, invocation, () => new Map<ModuleVariable, Map<string, number>>())
    const pending = entry(all, variable, () => new Map<string, number>())
    const { workgroup } = invocation as { workgroup: object }
    const own = this.#barriers.get(invocation) ?? 0
    const late = [...(this.#late.get(workgroup)?.values() ?? [])]
    if (late.some(({ barriers, variables }) => barriers === own && variables.has(variable)))
      this.#fail(place.loc, `${variable.name} is touched while a copy from before a barrier is under way`)
    const touched = entry(this.#touched, invocation, () => new Set<ModuleVariable>())
    if (!this.#targets.has(place)) {
      if (pending.size > 0) this.#fail(place.loc, `${variable.name} is touched while a copy is under way`)
      touched.add(variable)
      return
    }
    if (touched.has(variable)) this.#fail(place.loc, `a copy follows another access to ${variable.name}`)
    if (pending.has(path.join()))
      this.#fail(place.loc, `two copies go to ${variable.name}[${path.join('][')}]`)
    pending.set(path.join(), 0)
  }

  met(call: BuiltinCall, invocation: object): void {
    const pending = this.#pending.get(invocation)
    const kept = this.#claims.waits.get(call) ?? (this.#claims.hasGroups ? Number.POSITIVE_INFINITY : -1)
    for (const elements of pending?.values() ?? [])
      for (const [element, age] of elements)
        if (kept < 0) this.#fail(call.loc, 'a copy under way meets a barrier')
        else if (age < kept) elements.set(element, age + 1)
        else elements.delete(element)
    if (kept <= 0) this.#pending.delete(invocation)
    this.#touched.delete(invocation)
    const { workgroup } = invocation as { workgroup: object }
    const late = entry(this.#late, workgroup, () => new Map())
    const barriers = (this.#barriers.get(invocation) ?? 0) + 1
    this.#barriers.set(invocation, barriers)
    const variables = [...(pending ?? [])].filter(([, elements]) => elements.size > 0).map(([v]) => v)
    late.set(invocation, { barriers, variables: new Set(variables) })
  }

  returned(statement: Return, invocation: object): void {
    if (!this.#ends.has(statement) || this.#claims.returns.has(statement)) return
    if ([...(this.#pending.get(invocation)?.values() ?? [])].some((p) => p.size > 0))
      this.#fail(statement.loc, 'the entry point returns while a copy is under way')
  }
}

class ZeroChecker {
  readonly #fail: Fail
  readonly #unzeroed: ReadonlySet<ModuleVariable>
  /** For each workgroup, the paths that were written. */
  readonly #written = new WeakMap<object, Map<ModuleVariable, Set<string>>>()

  constructor(module: IrModule, zeroed: ReadonlySet<ModuleVariable>, fail: Fail) {
    this.#fail = fail
    this.#unzeroed = new Set(module.variables.filter((v) => v.space === 'workgroup' && !zeroed.has(v)))
  }

  touched(place: Place, path: readonly number[], use: PlaceUse, invocation: object): void {
    const variable = variableOf(place)
    if (!this.#unzeroed.has(variable)) return
    const { workgroup } = invocation as { workgroup: object }
    const all = entry(this.#written, workgroup, () => new Map<ModuleVariable, Set<string>>())
    const written = entry(all, variable, () => new Set<string>())
    const wasWritten =
      path.some((_, n) => written.has(path.slice(0, n).join())) || isWritten(written, path, place.type)
    if (use !== 'store' && !wasWritten)
      this.#fail(
        place.loc,
        `${variable.name}[${path.join('][')}] is not zeroed, and read before it is written`,
      )
    if (use === 'store') written.add(path.join())
  }
}

/** Whether all of it was written, as a whole or part by part. */
function isWritten(written: ReadonlySet<string>, path: readonly number[], type: Type): boolean {
  if (written.has(path.join())) return true
  const parts = partTypes(type)
  return parts.length > 0 && parts.every((part, i) => isWritten(written, [...path, i], part))
}

function partTypes(type: Type): readonly Type[] {
  switch (type.kind) {
    case 'struct':
      return type.members.map((m) => m.type)
    case 'array':
      return Array.from({ length: type.length ?? 0 }, () => type.element)
    case 'matrix':
      return Array.from({ length: type.columns }, () => vectorType(type.rows, type.scalar))
    case 'vector':
      return Array.from({ length: type.size }, () => scalarType(type.scalar))
    default:
      return []
  }
}

class TraceChecker {
  readonly #fail: Fail
  /**
   * For each workgroup, the calls of its barriers and of each of its subgroups, as made by the invocation
   * that is furthest ahead.
   */
  readonly #calls = new WeakMap<object, Map<number | 'workgroup', BuiltinCall[]>>()
  /** For each invocation, the number of barriers and of subgroup operations that it has reached. */
  readonly #counts = new WeakMap<object, { barriers: number; operations: number }>()

  constructor(fail: Fail) {
    this.#fail = fail
  }

  met(call: BuiltinCall, invocation: object): void {
    const { workgroup, subgroup_id } = invocation as { workgroup: object; subgroup_id: number }
    const atBarrier = isBarrier(call.name)
    const groups = entry(this.#calls, workgroup, () => new Map<number | 'workgroup', BuiltinCall[]>())
    const calls = entry(groups, atBarrier ? 'workgroup' : subgroup_id, () => [])
    const counts = entry(this.#counts, invocation, () => ({ barriers: 0, operations: 0 }))
    const count = atBarrier ? counts.barriers++ : counts.operations++
    if (count === calls.length) calls.push(call)
    else if (calls[count] !== call) this.#fail(call.loc, 'invocations make different collective calls')
  }
}

function entry<K, V>(map: { get(k: K): V | undefined; set(k: K, v: V): unknown }, key: K, make: () => V): V {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}
