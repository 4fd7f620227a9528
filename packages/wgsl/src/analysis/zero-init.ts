import type {
  Assign,
  Expression,
  For,
  If,
  IrModule,
  LocalVariable,
  ModuleVariable,
  Place,
  Statement,
  Type,
} from '../ir.ts'
import { operandsOf, rootOf, type Visitor, walkExpression, walkStatement } from '../walk.ts'
import { AccessLists } from './access-lists.ts'
import type { Analyses } from './analyses.ts'
import type { Effects } from './effects.ts'
import { type Atom, type LinearForm, type LinearForms, scaled, sum } from './linear-form.ts'
import type { LoopCounters } from './loop-counter.ts'
import type { Ranges } from './recorded-ranges.ts'

/** What must be done so that workgroup memory reads as zero before it is written. */
export interface ZeroInit {
  /** Variables that must be zeroed at the start. */
  readonly zeroed: ReadonlySet<ModuleVariable>
  /** Places to store zero in where the condition of an `if` without `else` does not hold. */
  readonly otherwise: ReadonlyMap<If, readonly Place[]>
}

/**
 * Finds workgroup variables of which every element that is read was written before, by some thread, with a barrier between:
 *
 * - all accesses are in one list of statements (the entry point's, or that of a loop's body in it);
 * - up to the first barrier after the first access there are only stores;
 * - one of them covers every element that is ever read: its indices run through them as the threads' ids and the counters
 *   of constant loops do, each element exactly once. A condition around it then gets an `else` that stores zero, unless
 *   the list is a loop's: there the element may hold what an earlier turn stored.
 */
export function findZeroInit(module: IrModule, analyses: Analyses): ZeroInit {
  const zeroed = new Set<ModuleVariable>()
  const otherwise = new Map<If, Place[]>()
  const reads = findReads(module)
  const lists = new AccessLists(analyses)
  for (const v of module.variables) {
    if (v.space !== 'workgroup') continue
    const cover = findCover(module, v, analyses, lists)
    if (cover === undefined || !areCovered(reads.get(v) ?? [], v, cover.box, analyses.ranges)) {
      zeroed.add(v)
      continue
    }
    if (cover.condition !== undefined)
      otherwise.set(cover.condition, [...(otherwise.get(cover.condition) ?? []), cover.place])
  }
  return { zeroed, otherwise }
}

type Box = readonly { readonly low: number; readonly high: number }[]

interface Cover {
  readonly box: Box
  readonly place: Place
  readonly condition: If | undefined
}

/** Values that conditions leave to positions: the first so many. */
type Limits = ReadonlyMap<Atom, number>

function findCover(
  module: IrModule,
  v: ModuleVariable,
  analyses: Analyses,
  lists: AccessLists,
): Cover | undefined {
  if (extents(v.type) === undefined) return undefined
  const { effects, forms } = analyses
  const { list, repeats } = innermostList(module, v, effects, lists)
  const first = lists.beforeBarrier(list, v)
  if (first === undefined || first.some((s) => effects.of(s).used.has(v))) return undefined
  const covers: Cover[] = []
  let stores = 0
  const visit = (s: Statement, loops: readonly For[], opaque: If | undefined, limits: Limits): void => {
    // What functions store that its expressions call is no single store.
    if (heads(s).some((e) => accesses(effects, e, v))) stores += 2
    switch (s.kind) {
      case 'block':
        for (const inner of lists.accessing(s.statements, v)) visit(inner, loops, opaque, limits)
        return
      case 'assign': {
        if (!isRootedAt(s.target, v)) return
        stores++
        const cover = coverOf(s, loops, opaque, limits, v, module, analyses)
        if (cover !== undefined) covers.push(cover)
        return
      }
      case 'for': {
        if (!accesses(effects, s, v)) return
        visit(s.body, [...loops, s], opaque, limits)
        return
      }
      case 'if': {
        if (!accesses(effects, s, v)) return
        const limit = s.otherwise === undefined ? limitOf(s.condition, forms) : undefined
        if (limit !== undefined) visit(s.then, loops, opaque, new Map([...limits, limit]))
        else if (opaque === undefined && s.otherwise === undefined) visit(s.then, loops, s, limits)
        else stores += 2
        return
      }
      default:
        if (accesses(effects, s, v)) stores += 2
    }
  }
  for (const s of first) visit(s, [], undefined, new Map())
  const whole = covers.find((c) => c.condition === undefined)
  if (whole !== undefined) return whole
  return stores === 1 && !repeats ? covers[0] : undefined
}

/** The list of statements that holds all accesses, as deep inside loops and conditions as there is one. */
function innermostList(
  module: IrModule,
  v: ModuleVariable,
  effects: Effects,
  lists: AccessLists,
): { list: readonly Statement[]; repeats: boolean } {
  let list = module.entryPoint.body.statements
  let repeats = false
  for (;;) {
    const inside = lists.accessing(list, v)
    const only = inside.length === 1 ? inside[0]! : undefined
    if (only === undefined || heads(only).some((e) => accesses(effects, e, v))) return { list, repeats }
    if (only.kind === 'block') list = only.statements
    else if (only.kind === 'for' || only.kind === 'while') list = only.body.statements
    else if (only.kind === 'loop' && only.continuing === undefined) list = only.body.statements
    else if (only.kind === 'if' && only.otherwise === undefined) list = only.then.statements
    else return { list, repeats }
    repeats ||= only.kind === 'for' || only.kind === 'while' || only.kind === 'loop'
  }
}

/** What a statement evaluates outside the blocks that it holds; of an assignment's target only the operands. */
function heads(s: Statement): readonly (Expression | Statement)[] {
  switch (s.kind) {
    case 'assign':
      return [...operandsOf(s.target), s.value]
    case 'if':
    case 'while':
      return [s.condition]
    case 'for':
      return [s.initial, s.condition, s.update].filter((part) => part !== undefined)
    case 'loop':
      return s.breakIf === undefined ? [] : [s.breakIf]
    default:
      return []
  }
}

function coverOf(
  s: Assign,
  loops: readonly For[],
  opaque: If | undefined,
  limits: Limits,
  v: ModuleVariable,
  module: IrModule,
  { counters, forms }: Analyses,
): Cover | undefined {
  if (loops.some((l) => leaves(l.body))) return undefined
  const indices: Expression[] = []
  let place: Place = s.target
  while (place.kind === 'index-place') {
    indices.unshift(place.index)
    place = place.base
  }
  const lengths = extents(v.type)!
  if (place.kind !== 'variable' || indices.length !== lengths.length) return undefined
  if (opaque !== undefined && indices.some((i) => usesLetsOf(i, opaque.then))) return undefined
  const turns = loops.map((l) => turnsOf(l, counters, forms))
  if (turns.some((t) => t === undefined)) return undefined
  const digits = new Set<Atom>()
  const box: { low: number; high: number }[] = []
  for (const [d, index] of indices.entries()) {
    const form = forms.of(index)
    const resolved = form && resolve(form, turns as Turns[], forms)
    const span = resolved && spanOf(resolved, turns as Turns[], limits, digits)
    if (span === undefined || resolved!.constant + span > lengths[d]!) return undefined
    box.push({ low: resolved!.constant, high: resolved!.constant + span - 1 })
  }
  if (opaque !== undefined) {
    // Each element by exactly one thread and repetition, or a zero could overwrite a value.
    if (!tellsApart(digits, limits, module.workgroupSize)) return undefined
    if (turns.some((t) => ![...digits].some((a) => a.variable === t!.variable))) return undefined
  }
  return { box, place: s.target, condition: opaque }
}

/** A loop that runs equally often for all invocations: its counter is `first + step · turn`. */
interface Turns {
  readonly variable: LocalVariable
  readonly first: LinearForm
  readonly step: number
  readonly count: number
}

function turnsOf(loop: For, counters: LoopCounters, forms: LinearForms): Turns | undefined {
  const counter = counters.of(loop)
  const first = counter && forms.of(counter.first)
  if (
    counter?.step === undefined ||
    counter.values === undefined ||
    !counter.trips?.isExact ||
    first === undefined
  )
    return undefined
  return { variable: counter.variable, first, step: counter.step, count: counter.trips.most }
}

/** The form in which each counter stands for the turns of its loop, and lets for what they are declared to be. */
function resolve(form: LinearForm, turns: readonly Turns[], forms: LinearForms): LinearForm {
  let result: LinearForm = { constant: form.constant, terms: new Map() }
  for (const [atom, coefficient] of form.terms) {
    const own: LinearForm = { constant: 0, terms: new Map([[atom, 1]]) }
    const turn = turns.find((t) => t.variable === atom.variable)
    const definition = atom.let === undefined ? undefined : forms.definition(atom.let)
    const defined = definition && forms.of(definition)
    const value = turn
      ? sum(resolve(turn.first, turns, forms), scaled(own, turn.step), 1)
      : defined
        ? resolve(defined, turns, forms)
        : own
    result = sum(result, scaled(value, coefficient), 1)
  }
  return result
}

/** The number of values of a sum of digits, from its constant on without gaps or repetitions; undefined for any other form. */
function spanOf(
  form: LinearForm,
  turns: readonly Turns[],
  limits: Limits,
  used: Set<Atom>,
): number | undefined {
  const terms: { atom: Atom; extent: number; factor: number }[] = []
  for (const [atom, factor] of form.terms) {
    const extent = atom.extent ?? turns.find((t) => t.variable === atom.variable)?.count
    if (extent === undefined) return undefined
    const limited = Math.min(extent, limits.get(atom) ?? extent)
    if (limited > 1 || limits.has(atom)) terms.push({ atom, extent: limited, factor })
  }
  let span = 1
  for (const { atom, extent, factor } of terms.sort((a, b) => a.factor - b.factor)) {
    if (used.has(atom)) return undefined
    used.add(atom)
    if (extent === 1) continue
    if (factor !== span) return undefined
    span *= extent
  }
  return span
}

/** A condition on the invocation's position alone: how many of its first values meet it. */
function limitOf(condition: Expression, forms: LinearForms): readonly [Atom, number] | undefined {
  if (condition.kind !== 'binary') return undefined
  const left = forms.of(condition.left)
  const right = forms.of(condition.right)
  const [only] = left?.terms ?? []
  if (left?.terms.size !== 1 || left.constant !== 0 || only![1] !== 1 || right?.terms.size !== 0)
    return undefined
  const [atom] = only!
  const bound = right.constant
  // A bound that is negative in an i32 is none.
  if (atom.extent === undefined || bound > 0x7fffffff) return undefined
  if (condition.operator === '<' && bound > 0) return [atom, bound]
  if (condition.operator === '<=') return [atom, bound + 1]
  return condition.operator === '==' && bound === 0 ? [atom, 1] : undefined
}

/** Do these digits tell all invocations apart that meet the limits? */
function tellsApart(digits: ReadonlySet<Atom>, limits: Limits, size: readonly number[]): boolean {
  const isOne = (position: Atom['position']) =>
    [...digits].some((a) => a.position === position) ||
    [...limits].some(([a, limit]) => a.position === position && limit === 1)
  const isSplit = [...digits].some(
    (a) =>
      a.digit?.part === 'div' &&
      a.digit.of.position === 'index' &&
      [...digits].some(
        (b) => b.digit?.part === 'mod' && b.digit.of === a.digit!.of && b.digit.by === a.digit!.by,
      ),
  )
  return isOne('index') || isSplit || size.every((n, i) => n === 1 || isOne(i as 0))
}

/** Lengths of the dimensions of an array of scalars or vectors; none for a scalar; undefined for other types. */
function extents(type: Type): number[] | undefined {
  const lengths: number[] = []
  let t = type
  while (t.kind === 'array') {
    lengths.push(t.length!)
    t = t.element
  }
  return t.kind === 'scalar' || t.kind === 'vector' ? lengths : undefined
}

/** The places that are read of each workgroup variable, or whose address is passed. */
function findReads(module: IrModule): Map<ModuleVariable, Place[]> {
  const reads = new Map<ModuleVariable, Place[]>()
  const visitor: Visitor = {
    place(place, use) {
      const root = rootOf(place)
      if (root.kind !== 'variable' || root.variable.kind !== 'module-variable') return undefined
      if (root.variable.space !== 'workgroup') return undefined
      if (use !== 'store') {
        const places = reads.get(root.variable) ?? []
        places.push(place)
        reads.set(root.variable, places)
      }
      // Its bases are no accesses of their own.
      for (const e of operandsOf(place)) walkExpression(e, visitor)
      return false
    },
  }
  for (const fn of module.functions) walkStatement(fn.body, visitor)
  return reads
}

/** Do the places lie in the box, whatever their indices? */
function areCovered(places: readonly Place[], v: ModuleVariable, box: Box, ranges: Ranges): boolean {
  const lengths = extents(v.type)!
  return places.every((place) => {
    const indices: Expression[] = []
    let p = place
    while (p.kind !== 'variable' && p.kind !== 'deref') {
      if (p.kind === 'index-place' && p.base.type.kind === 'array') indices.unshift(p.index)
      p = p.base
    }
    return lengths.every((length, d) => {
      const range = indices[d] === undefined ? undefined : ranges.interval(indices[d]!)
      const low = range === undefined || range.low < 0 || range.high >= length ? 0 : range.low
      const high = range === undefined || range.low < 0 || range.high >= length ? length - 1 : range.high
      return low >= box[d]!.low && high <= box[d]!.high
    })
  })
}

function isRootedAt(place: Place, v: ModuleVariable): boolean {
  const root = rootOf(place)
  return root.kind === 'variable' && root.variable === v
}

/** Does the code, or a function that it calls, touch the variable? */
function accesses(effects: Effects, code: Statement | Expression, v: ModuleVariable): boolean {
  const { stored, used } = effects.of(code)
  return stored.has(v) || used.has(v)
}

function leaves(body: Statement): boolean {
  let found = false
  walkStatement(body, {
    statement(s) {
      if (s.kind === 'break' || s.kind === 'continue' || s.kind === 'return') found = true
      return undefined
    },
  })
  return found
}

/** Does an expression use a let that a block declares? */
function usesLetsOf(e: Expression, block: Statement): boolean {
  const declared = new Set<number>()
  walkStatement(block, {
    statement(s) {
      if (s.kind === 'let' || s.kind === 'var') declared.add(s.variable.id)
      return undefined
    },
  })
  let found = false
  walkExpression(e, {
    expression(x) {
      if (x.kind === 'value' && declared.has(x.value.id)) found = true
      return undefined
    },
    place(p) {
      if (p.kind === 'variable' && declared.has(p.variable.id)) found = true
      return undefined
    },
  })
  return found
}
