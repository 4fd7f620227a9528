import type { Assign, Expression, For, If, IrModule, ModuleVariable, Place, Statement, Type } from '../ir.ts'
import { operandsOf, rootOf, type Visitor, walk, walkExpression, walkStatement } from '../walk.ts'
import { type Affine, AffineForms, type Digit } from './affine.ts'
import type { Analyses } from './analyses.ts'
import type { LoopCounters } from './loop-counter.ts'
import type { Ranges } from './ranges.ts'

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
export function findZeroInit(module: IrModule, { ranges, counters }: Analyses): ZeroInit {
  const zeroed = new Set<ModuleVariable>()
  const otherwise = new Map<If, Place[]>()
  for (const v of module.variables) {
    if (v.space !== 'workgroup') continue
    const cover = findCover(module, v, counters)
    if (cover === undefined || !readsAreCovered(module, v, cover.box, ranges)) {
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

function findCover(module: IrModule, v: ModuleVariable, counters: LoopCounters): Cover | undefined {
  if (extents(v.type) === undefined) return undefined
  const { list, repeats } = innermostList(module, v)
  const from = list.findIndex((s) => accesses(module, s, v))
  const to = list.findIndex((s, i) => i > from && (isBarrier(s) || beginsWithBarrier(s, counters)))
  if (from < 0 || to < 0) return undefined
  const first = list.slice(from, to)
  if (first.some((s) => reads(module, s, v) || containsBarrier(module, s))) return undefined
  const forms = new AffineForms(module, counters)
  const covers: Cover[] = []
  let stores = 0
  const visit = (
    s: Statement,
    loops: readonly For[],
    opaque: If | undefined,
    limits: ReadonlyMap<string, number>,
  ): void => {
    // What functions store that its expressions call is no single store.
    if (heads(s).some((e) => accesses(module, e, v))) stores += 2
    switch (s.kind) {
      case 'block':
        for (const inner of s.statements) visit(inner, loops, opaque, limits)
        return
      case 'assign': {
        if (!isRootedAt(s.target, v)) return
        stores++
        const cover = coverOf(forms, s, loops, opaque, limits, counters, module, v)
        if (cover !== undefined) covers.push(cover)
        return
      }
      case 'for': {
        if (!accesses(module, s, v)) return
        visit(s.body, [...loops, s], opaque, limits)
        return
      }
      case 'if': {
        if (!accesses(module, s, v)) return
        const limit = s.otherwise === undefined ? forms.limit(s.condition) : undefined
        if (limit !== undefined) visit(s.then, loops, opaque, new Map([...limits, limit]))
        else if (opaque === undefined && s.otherwise === undefined) visit(s.then, loops, s, limits)
        else stores += 2
        return
      }
      default:
        if (accesses(module, s, v)) stores += 2
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
): { list: readonly Statement[]; repeats: boolean } {
  let list = module.entryPoint.body.statements
  let repeats = false
  for (;;) {
    const inside = list.filter((s) => accesses(module, s, v))
    const only = inside.length === 1 ? inside[0]! : undefined
    if (only === undefined || heads(only).some((e) => accesses(module, e, v))) return { list, repeats }
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
  forms: AffineForms,
  s: Assign,
  loops: readonly For[],
  opaque: If | undefined,
  limits: ReadonlyMap<string, number>,
  counters: LoopCounters,
  module: IrModule,
  v: ModuleVariable,
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
  if (loops.some((l) => forms.counter(l) === undefined)) return undefined
  const digits = new Set<string>()
  const box: { low: number; high: number }[] = []
  for (const [d, index] of indices.entries()) {
    const form = forms.of(index, loops)
    if (form === undefined) return undefined
    const span = spanOf(form, limits, digits)
    if (span === undefined || form.constant < 0 || form.constant + span > lengths[d]!) return undefined
    box.push({ low: form.constant, high: form.constant + span - 1 })
  }
  if (opaque !== undefined) {
    // Each element by exactly one thread and repetition, or a zero could overwrite a value.
    if (!forms.usesAll(digits, limits, module.workgroupSize)) return undefined
    for (const l of loops) if (!digits.has(`loop ${counters.of(l)!.variable.id}`)) return undefined
  }
  return { box, place: s.target, condition: opaque }
}

/** The number of values of a mixed-radix sum, from `constant` on without gaps or repetitions; undefined for any other form. */
function spanOf(form: Affine, limits: ReadonlyMap<string, number>, used: Set<string>): number | undefined {
  const terms = [...form.terms.values()]
    .map((t): Digit => ({ ...t, extent: Math.min(t.extent, limits.get(t.name) ?? t.extent) }))
    .filter((t) => t.extent > 1 || limits.has(t.name))
    .sort((a, b) => a.factor - b.factor)
  let span = 1
  for (const t of terms) {
    if (used.has(t.name)) return undefined
    used.add(t.name)
    if (t.extent === 1) continue
    if (t.factor !== span) return undefined
    span *= t.extent
  }
  return span
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

function readsAreCovered(module: IrModule, v: ModuleVariable, box: Box, ranges: Ranges): boolean {
  const lengths = extents(v.type)!
  let covered = true
  const check = (place: Place) => {
    const indices: Expression[] = []
    let p = place
    while (p.kind !== 'variable' && p.kind !== 'deref') {
      if (p.kind === 'index-place' && p.base.type.kind === 'array') indices.unshift(p.index)
      p = p.base
    }
    for (const [d, length] of lengths.entries()) {
      const range = indices[d] === undefined ? undefined : ranges.interval(indices[d]!)
      const low = range === undefined || range.low < 0 || range.high >= length ? 0 : range.low
      const high = range === undefined || range.low < 0 || range.high >= length ? length - 1 : range.high
      if (low < box[d]!.low || high > box[d]!.high) covered = false
    }
  }
  const visitor: Visitor = {
    place(place, use) {
      if (!isRootedAt(place, v)) return undefined
      if (use !== 'store') check(place)
      // Its bases are no accesses of their own.
      for (const e of operandsOf(place)) walkExpression(e, visitor)
      return false
    },
  }
  for (const fn of module.functions) walkStatement(fn.body, visitor)
  return covered
}

function isRootedAt(place: Place, v: ModuleVariable): boolean {
  const root = rootOf(place)
  return root.kind === 'variable' && root.variable === v
}

/** Does the statement or expression, or a function that it calls, touch the variable? */
function accesses(module: IrModule, s: Statement | Expression, v: ModuleVariable): boolean {
  return finds(module, s, (place) => isRootedAt(place, v))
}

function reads(module: IrModule, s: Statement, v: ModuleVariable): boolean {
  return finds(module, s, (place, use) => use !== 'store' && isRootedAt(place, v))
}

function finds(
  module: IrModule,
  s: Statement | Expression,
  is: (place: Place, use: string) => boolean,
): boolean {
  let found = false
  walk(s, {
    place(place, use) {
      if (is(place, use)) found = true
      return undefined
    },
    expression(e) {
      if (e.kind === 'call' && finds(module, e.function.body, is)) found = true
      return undefined
    },
  })
  return found
}

const barriers: ReadonlySet<string> = new Set(['workgroupBarrier', 'workgroupUniformLoad'])

function isBarrier(s: Statement): boolean {
  return s.kind === 'evaluate' && s.value.kind === 'builtin-call' && s.value.name === 'workgroupBarrier'
}

/** A loop that runs at least once and starts with a barrier. */
function beginsWithBarrier(s: Statement, counters: LoopCounters): boolean {
  if (s.kind === 'loop') return s.body.statements[0] !== undefined && isBarrier(s.body.statements[0])
  if (s.kind !== 'for' || s.body.statements[0] === undefined || !isBarrier(s.body.statements[0])) return false
  return (counters.exactTrips(s) ?? 0) > 0
}

function containsBarrier(module: IrModule, s: Statement): boolean {
  let found = false
  walkStatement(s, {
    expression(e) {
      if (e.kind === 'builtin-call' && barriers.has(e.name)) found = true
      if (e.kind === 'call' && containsBarrier(module, e.function.body)) found = true
      return undefined
    },
  })
  return found
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
