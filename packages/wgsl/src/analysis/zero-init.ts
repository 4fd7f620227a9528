import type {
  Assign,
  Evaluated,
  Expression,
  For,
  IrModule,
  LocalVariable,
  ModuleVariable,
  Place,
  Statement,
  Type,
} from '../ir.ts'
import { moduleVariableOf, operandsOf, some, type Visitor, walk } from '../walk.ts'
import { AccessLists } from './access-lists.ts'
import type { Analyses } from './analyses.ts'
import { contains, type Interval, interval } from './interval.ts'
import {
  type Atom,
  type LinearForm,
  type LinearForms,
  only,
  scaled,
  substituted,
  sum,
} from './linear-form.ts'
import type { LoopCounters } from './loop-counter.ts'
import type { Ranges } from './recorded-ranges.ts'

/**
 * Finds the workgroup variables that must be zeroed at the start: all except those that meet these
 * conditions.
 *
 * - The variable is a scalar, a vector, or a possibly nested array of these; not an atomic or a structure.
 * - In the list of statements of the entry point, from the first that accesses it to the first barrier after
 *   that, or to the end, nothing reads it. The barrier is `workgroupBarrier()`, or begins the body of a `for`
 *   with a known, nonzero number of iterations, whose first clause and condition may read the variable.
 * - One of these statements, or one in their blocks and `for` loops, stores a whole scalar or vector. Each
 *   loop around it has a known number of iterations and contains no break, continue or return.
 * - Each of its indices is a constant plus factor · term for some terms, modulo 2³². A term is a component of
 *   `local_invocation_id`, or the iteration of a loop around the store; no term occurs twice in the place. In
 *   order, the first factor is 1, and each further factor is the previous one times the extent of its term.
 * - The interval of each index of each read of the variable, anywhere in the module, is contained in the
 *   values of the store's index.
 *
 * The conditions suffice because the terms are independent, so all combinations of their values occur, and an
 * index has each value of an interval once. Every element that is read has been written before, with a
 * barrier in between: of reads before the barrier, only those in the first clause and the condition of a
 * `for` that begins with it are not in the list. They follow the invocation's own stores, and a read of an
 * element that only another invocation has written there is a data race.
 */
export function findZeroInit(module: IrModule, analyses: Analyses): ReadonlySet<ModuleVariable> {
  const zeroed = new Set<ModuleVariable>()
  const reads = findReads(module)
  const lists = new AccessLists(analyses)
  // Found once for each loop, not for each variable.
  const leftEarly = new Map<For, boolean>()
  for (const v of module.variables) {
    if (v.space !== 'workgroup') continue
    const cover = findCover(module, v, analyses, lists, leftEarly)
    if (cover === undefined || !areCovered(reads.get(v) ?? [], v, cover, analyses.ranges)) zeroed.add(v)
  }
  return zeroed
}

/** The elements that a store covers, in each dimension. */
type Box = readonly Interval[]

function findCover(
  module: IrModule,
  v: ModuleVariable,
  analyses: Analyses,
  lists: AccessLists,
  leftEarly: Map<For, boolean>,
): Box | undefined {
  if (extents(v.type) === undefined) return undefined
  const first = lists.beforeBarrier(module.entryPoint.body.statements, v)
  if (first.some((s) => analyses.effects.of(s).used.has(v))) return undefined
  let found: Box | undefined
  const visit = (s: Statement, loops: readonly For[]): void => {
    if (s.kind === 'block') for (const inner of lists.accessing(s.statements, v)) visit(inner, loops)
    else if (s.kind === 'for') {
      const isLeft = leftEarly.get(s) ?? some(s.body, leaves)
      leftEarly.set(s, isLeft)
      if (!isLeft) visit(s.body, [...loops, s])
    } else if (s.kind === 'assign' && moduleVariableOf(s.target) === v)
      found ??= coverOf(s, loops, v, analyses)
  }
  for (const s of first) visit(s, [])
  return found
}

function coverOf(
  s: Assign,
  loops: readonly For[],
  v: ModuleVariable,
  { counters, forms }: Analyses,
): Box | undefined {
  const indices: Expression[] = []
  let place: Place = s.target
  while (place.kind === 'index-place') {
    indices.unshift(place.index)
    place = place.base
  }
  const lengths = extents(v.type)!
  if (place.kind !== 'variable' || indices.length !== lengths.length) return undefined
  const counted = loops.map((l) => countedLoop(l, counters, forms))
  if (counted.some((l) => l === undefined)) return undefined
  const used = new Set<Atom>()
  const box: Interval[] = []
  for (const index of indices) {
    const form = forms.of(index)
    const resolved = form && resolve(form, counted as CountedLoop[])
    const span = resolved && spanOf(resolved, counted as CountedLoop[], used)
    if (span === undefined) return undefined
    box.push(interval(resolved!.constant, resolved!.constant + span - 1))
  }
  return box
}

/**
 * A loop with the same number of iterations for all invocations: its counter is `first + step · iteration`.
 */
interface CountedLoop {
  readonly variable: LocalVariable
  readonly first: LinearForm
  readonly step: number
  readonly count: number
}

function countedLoop(loop: For, counters: LoopCounters, forms: LinearForms): CountedLoop | undefined {
  const counter = counters.of(loop)
  const first = counter && forms.of(counter.first)
  const count = counters.exactTrips(loop) ?? 0
  if (counter?.step === undefined || first === undefined || count === 0) return undefined
  return { variable: counter.variable, first, step: counter.step, count }
}

/** The form with each counter replaced by a form of its loop's iteration. */
function resolve(form: LinearForm, loops: readonly CountedLoop[]): LinearForm {
  return substituted(form, (atom) => {
    const loop = loops.find((l) => l.variable === atom.variable)
    return loop && sum(resolve(loop.first, loops), scaled(only(atom), loop.step), 1)
  })
}

/**
 * The number of values of a sum of positions and iterations, if these start at its constant and have no gaps
 * or repetitions; undefined for any other form.
 */
function spanOf(form: LinearForm, loops: readonly CountedLoop[], used: Set<Atom>): number | undefined {
  const terms: { atom: Atom; extent: number; factor: number }[] = []
  for (const [atom, factor] of form.terms) {
    const extent = atom.extent ?? loops.find((l) => l.variable === atom.variable)?.count
    if (extent === undefined) return undefined
    if (extent > 1) terms.push({ atom, extent, factor })
  }
  let span = 1
  for (const { atom, extent, factor } of terms.sort((a, b) => a.factor - b.factor)) {
    if (used.has(atom)) return undefined
    used.add(atom)
    if (factor !== span) return undefined
    span *= extent
  }
  return span
}

/**
 * The lengths of the dimensions of an array of scalars or vectors; empty for a scalar; undefined for other
 * types.
 */
function extents(type: Type): number[] | undefined {
  const lengths: number[] = []
  let t = type
  while (t.kind === 'array') {
    lengths.push(t.length!)
    t = t.element
  }
  return t.kind === 'scalar' || t.kind === 'vector' ? lengths : undefined
}

/** For each module variable, the places that are used in any other way than by a store. */
function findReads(module: IrModule): Map<ModuleVariable | undefined, Place[]> {
  const reads = new Map<ModuleVariable | undefined, Place[]>()
  const visitor: Visitor = {
    place(place, use) {
      if (use !== 'store') {
        const variable = moduleVariableOf(place)
        const places = reads.get(variable) ?? []
        places.push(place)
        reads.set(variable, places)
      }
      // The bases of the place are not separate accesses.
      for (const e of operandsOf(place)) walk(e, visitor)
      return false
    },
  }
  walk(module, visitor)
  return reads
}

/** Whether the places are in the box for all values of their indices. */
function areCovered(places: readonly Place[], v: ModuleVariable, box: Box, ranges: Ranges): boolean {
  const lengths = extents(v.type)!
  return places.every((place) => {
    const indices: Expression[] = []
    let p = place
    while (p.kind !== 'variable' && p.kind !== 'deref') {
      if (p.kind === 'index-place') indices.unshift(p.index)
      p = p.base
    }
    return lengths.every((length, d) => {
      const all = interval(0, length - 1)
      // An index outside may be that of any element.
      const range = (indices[d] && ranges.interval(indices[d])) ?? all
      return contains(box[d]!, contains(all, range) ? range : all)
    })
  })
}

function leaves({ kind }: Statement | Evaluated | Place): boolean {
  return kind === 'break' || kind === 'continue' || kind === 'return'
}
