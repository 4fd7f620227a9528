import type { Analyses } from '../analysis/analyses.ts'
import { isFixed, scaled, sum, termsText } from '../analysis/linear-form.ts'
import type { LoopCounter } from '../analysis/loop-counter.ts'
import { isBarrier } from '../collectives.ts'
import type {
  Assign,
  Block,
  BuiltinCall,
  Expression,
  IrModule,
  LocalVariable,
  ModuleVariable,
  Place,
  Return,
  Statement,
} from '../ir.ts'
import { moduleVariableOf, operandsOf, rootOf, walkExpression, walkStatement } from '../walk.ts'

/**
 * Copies from storage to workgroup memory that may still be pending after their statement, and where the invocation waits for them. WGSL lets
 * a copy with an index past the end of the array write any element: here two such copies write the last one, in either order.
 */
export interface AsyncCopies {
  /** `tile[i] = buffer[j]`, to be written as an asynchronous copy. */
  readonly copies: ReadonlySet<Assign>
  /**
   * Barriers before which the invocation waits for its copies, except those of so many groups: the copies before a barrier, since the one before it, are a group.
   */
  readonly waits: ReadonlyMap<BuiltinCall, number>
  /** Some copies stay under way across a barrier, so barriers end groups. */
  readonly hasGroups: boolean
  /** Returns of the entry point before which it waits, and whether it does at the end. */
  readonly returns: ReadonlySet<Return>
  readonly waitsAtEnd: boolean
}

export const noAsyncCopies: AsyncCopies = {
  copies: new Set(),
  waits: new Map(),
  hasGroups: false,
  returns: new Set(),
  waitsAtEnd: false,
}

/** The most barriers that a copy stays under way across. */
const mostGroups = 7

/** The most iterations of a loop in which the elements that a copy writes are compared. */
const mostElements = 4096

/** The most statements that are followed, those of loops several times. In a larger entry point no copy becomes asynchronous. */
const mostSteps = 50_000

/**
 * Finds the copies whose delay cannot be observed. On an H200 a copy that bypasses the registers makes an f32 matrix product 1.06 to
 * 1.15 times as fast, for elements of 16 bytes; smaller ones take more instructions than the load and the store, and stay.
 *
 * The rule: a copy of the entry point to `V[e + c]`, c a constant, is asynchronous if on every path from the previous barrier to it,
 * and from it to the next barrier, the invocation touches V only by copies to `V[e + c']` with c' ≠ c modulo 2³², and
 * no part of e is declared anew. No part of e is a variable, but c may also be `step · k` with the counter k of a loop of known trip count,
 * if no two turns give the same. A call touches what its function touches; one with a barrier in it disqualifies the copies before and after it.
 *
 * The invocation waits for a copy to V before each return that it reaches, and before the first barrier after which, on some path to the next one, V is
 * touched, by a copy too. So a copy may stay under way across barriers, as in a loop with three stages or more: barriers count the groups.
 *
 * Why it is sound: the path from a copy back to itself has c' = c, so a cycle without a barrier disqualifies. In one stretch between
 * barriers the targets of one invocation then differ, as far as they are inside the array; the source is never written; and an access by
 * another invocation in the same stretch would be a data race already. In a stretch that a copy to V outlasts nothing touches V, in any invocation, since all
 * are in the same stretch.
 */
export function findAsyncCopies(module: IrModule, analyses: Analyses): AsyncCopies {
  const copies = candidates(module, analyses)
  while (copies.size > 0) {
    const search = new Search(analyses, copies)
    if (!search.run(module.entryPoint.body)) break
    if (search.unfit.size === 0) {
      const patient = new Search(analyses, copies, search.after)
      const isSound = patient.run(module.entryPoint.body) && patient.unfit.size === 0
      return { ...(isSound ? patient : search), copies: new Set(copies.keys()) }
    }
    for (const copy of search.unfit) copies.delete(copy)
  }
  return noAsyncCopies
}

/** A copy that may become asynchronous. */
interface Copy {
  readonly variable: ModuleVariable
  /** e, as text: equal for equal sums of the same values. */
  readonly base: string
  /** The ids of lets that e depends on. */
  readonly lets: readonly number[]
  /** The counter that takes part in c, and every c: one for each turn of its loop. */
  readonly counter: number | undefined
  readonly elements: ReadonlySet<number>
}

/** The statements `tile[i] = buffer[j]` of 16 bytes, from read-only storage to workgroup memory, whose index has a known form. */
function candidates(module: IrModule, analyses: Analyses): Map<Assign, Copy> {
  const found = new Map<Assign, Copy>()
  const counters = new Map<LocalVariable, LoopCounter>()
  walkStatement(module.entryPoint.body, {
    statement(s) {
      const counter = s.kind === 'for' ? analyses.counters.of(s) : undefined
      if (counter !== undefined) counters.set(counter.variable, counter)
      const copy = s.kind === 'assign' ? copyOf(s, counters, analyses) : undefined
      if (copy !== undefined) found.set(s as Assign, copy)
      return undefined
    },
  })
  return found
}

function copyOf(
  { target, value }: Assign,
  counters: ReadonlyMap<LocalVariable, LoopCounter>,
  { forms, effects }: Analyses,
): Copy | undefined {
  const { type } = target
  if (type.kind !== 'vector' || type.size !== 4 || type.scalar === 'bool' || type.scalar === 'f16')
    return undefined
  if (value.kind !== 'load' || effects.writes(value) || !isElement(value.place)) return undefined
  const from = moduleVariableOf(value.place)
  if (from?.space !== 'storage' || from.access !== 'read' || from.type.kind === 'buffer') return undefined
  if (target.kind !== 'index-place' || target.base.kind !== 'variable') return undefined
  const variable = moduleVariableOf(target)
  let form = forms.of(target.index)
  if (variable?.space !== 'workgroup' || form === undefined) return undefined
  const [turning, ...others] = [...form.terms.keys()].filter((a) => a.variables.length > 0)
  let turns = [0]
  let counter: LoopCounter | undefined
  if (turning !== undefined) {
    counter = turning.variable && counters.get(turning.variable)
    const first = counter && forms.of(counter.first)
    const count = counter?.trips?.most
    if (others.length > 0 || first === undefined || counter?.step === undefined) return undefined
    if (count === undefined || count > mostElements || !isFixed(first)) return undefined
    const coefficient = form.terms.get(turning)!
    const own = { constant: 0, terms: new Map([[turning, 1]]) }
    form = sum(sum(form, scaled(own, coefficient), -1), scaled(first, coefficient), 1)
    const step = Math.imul(coefficient, counter.step)
    turns = Array.from({ length: count }, (_, turn) => Math.imul(step, turn))
  }
  const { constant, terms } = form
  const elements = new Set(turns.map((offset) => (constant + offset) >>> 0))
  if (elements.size < turns.length) return undefined
  const lets = [...terms.keys()].flatMap((a) => a.lets)
  return { variable, base: termsText(form), lets, counter: counter?.variable.id, elements }
}

function isElement(place: Place): boolean {
  return place.kind === 'index-place' && place.base.type.kind === 'array'
}

/**
 * A pending copy. Its index is `fresh` until the loop's counter is stepped; then it names another element than the next copy of the same
 * statement does. After the counter, or a let of the index, is declared anew, the index is `unknown`.
 */
interface Pending {
  readonly copy: Assign
  readonly index: 'fresh' | 'turned' | 'unknown'
  /** The barriers since the copy. */
  readonly age: number
}

/** The copies that may be pending, and the variables that may have been touched, on some path since the last barrier. */
class State {
  readonly touched: Set<ModuleVariable>
  /** The barriers that may have been the last. */
  readonly since: Set<BuiltinCall>
  readonly #pending: Map<string, Pending>

  constructor(states: readonly State[] = []) {
    this.touched = new Set(states.flatMap((s) => [...s.touched]))
    this.since = new Set(states.flatMap((s) => [...s.since]))
    this.#pending = new Map(states.flatMap((s) => [...s.#pending]))
  }

  get pending(): Iterable<Pending> {
    return this.#pending.values()
  }

  get isPending(): boolean {
    return this.#pending.size > 0
  }

  /** Grows when something is added that was not there. */
  get size(): number {
    return this.#pending.size + this.touched.size + this.since.size
  }

  add(pending: Pending, number: number): void {
    this.#pending.set(`${number} ${pending.index} ${pending.age}`, pending)
  }

  change(to: (p: Pending) => Pending['index']): void {
    for (const [key, p] of [...this.#pending]) {
      const index = to(p)
      if (index === p.index) continue
      this.#pending.delete(key)
      this.add({ ...p, index }, Number.parseInt(key, 10))
    }
  }
}

/** The state where two paths join; undefined in unreachable code. */
function joined(a: State | undefined, b: State | undefined): State | undefined {
  const states = [a, b].filter((s) => s !== undefined)
  return states.length === 0 ? undefined : new State(states)
}

class GivesUp extends Error {}

/** Follows the control flow of the entry point with the copies that may be pending. */
class Search {
  readonly unfit = new Set<Assign>()
  readonly waits = new Map<BuiltinCall, number>()
  hasGroups = false
  /** What is touched after a barrier, until the next one. */
  readonly after = new Map<BuiltinCall, Set<ModuleVariable>>()
  readonly returns = new Set<Return>()
  waitsAtEnd = false
  readonly #analyses: Analyses
  readonly #copies: ReadonlyMap<Assign, Copy>
  readonly #numbers: ReadonlyMap<Assign, number>
  readonly #known: ReadonlyMap<BuiltinCall, ReadonlySet<ModuleVariable>> | undefined
  /** Undefined in unreachable code. */
  #state: State | undefined = new State()
  #breaks: State | undefined
  #continues: State | undefined
  #steps = 0

  /** Without `after` of an earlier search every barrier waits for all copies. */
  constructor(analyses: Analyses, copies: ReadonlyMap<Assign, Copy>, after?: Search['after']) {
    this.#analyses = analyses
    this.#copies = copies
    this.#known = after
    this.#numbers = new Map([...copies.keys()].map((copy, i) => [copy, i]))
  }

  /** False when the entry point is too large to follow. */
  run(body: Block): boolean {
    try {
      this.#statement(body)
    } catch (error) {
      if (error instanceof GivesUp) return false
      throw error
    }
    this.waitsAtEnd = this.#state?.isPending ?? false
    return true
  }

  #statement(s: Statement | undefined): void {
    if (s === undefined || this.#state === undefined) return
    if (++this.#steps > mostSteps) throw new GivesUp()
    switch (s.kind) {
      case 'block':
        for (const inner of s.statements) this.#statement(inner)
        return
      case 'let':
        this.#value(s.value)
        this.#state.change((p) =>
          this.#copies.get(p.copy)!.lets.includes(s.variable.id) ? 'unknown' : p.index,
        )
        return
      case 'var':
        if (s.initial !== undefined) this.#value(s.initial)
        this.#state.change((p) => (this.#copies.get(p.copy)!.counter === s.variable.id ? 'unknown' : p.index))
        return
      case 'assign':
        for (const e of operandsOf(s.target)) this.#value(e)
        this.#value(s.value)
        if (this.#copies.has(s)) this.#copy(s)
        else this.#touch(moduleVariableOf(s.target))
        return
      case 'compound-assign': {
        for (const e of operandsOf(s.target)) this.#value(e)
        this.#touch(moduleVariableOf(s.target))
        this.#value(s.value)
        this.#touch(moduleVariableOf(s.target))
        const root = rootOf(s.target)
        if (root.kind === 'variable')
          this.#state.change((p) =>
            p.index === 'fresh' && this.#copies.get(p.copy)!.counter === root.variable.id
              ? 'turned'
              : p.index,
          )
        return
      }
      case 'evaluate':
        this.#value(s.value)
        return
      case 'if': {
        this.#value(s.condition)
        this.#branches([s.then, s.otherwise])
        return
      }
      case 'switch': {
        this.#value(s.selector)
        const outer = this.#breaks
        this.#breaks = undefined
        this.#branches(s.clauses.map((c) => c.body))
        this.#state = joined(this.#state, this.#breaks)
        this.#breaks = outer
        return
      }
      case 'for':
        this.#statement(s.initial)
        this.#repeat(s.condition, s.body, () => this.#statement(s.update))
        return
      case 'while':
        this.#repeat(s.condition, s.body, () => {})
        return
      case 'loop':
        this.#repeat(undefined, s.body, () => {
          this.#statement(s.continuing)
          if (s.breakIf === undefined || this.#state === undefined) return
          this.#value(s.breakIf)
          this.#breaks = joined(this.#breaks, this.#state)
        })
        return
      case 'break':
        this.#breaks = joined(this.#breaks, this.#state)
        this.#state = undefined
        return
      case 'continue':
        this.#continues = joined(this.#continues, this.#state)
        this.#state = undefined
        return
      case 'return':
        if (this.#state.isPending) this.returns.add(s)
        this.#state = undefined
        return
    }
  }

  #branches(parts: readonly (Statement | undefined)[]): void {
    const before = this.#state
    let after: State | undefined
    for (const part of parts) {
      this.#state = before && new State([before])
      this.#statement(part)
      after = joined(after, this.#state)
    }
    this.#state = after
  }

  #repeat(condition: Expression | undefined, body: Block, update: () => void): void {
    const outer = { breaks: this.#breaks, continues: this.#continues }
    this.#breaks = undefined
    let head = this.#state
    for (;;) {
      const before = head?.size ?? 0
      this.#state = head && new State([head])
      this.#continues = undefined
      if (condition !== undefined) {
        this.#value(condition)
        this.#breaks = joined(this.#breaks, this.#state)
      }
      this.#statement(body)
      this.#state = joined(this.#state, this.#continues)
      if (this.#state !== undefined) update()
      head = joined(head, this.#state)
      if ((head?.size ?? 0) === before) break
    }
    this.#state = this.#breaks
    this.#breaks = outer.breaks
    this.#continues = outer.continues
  }

  /** Visits the accesses and the barriers in an expression. */
  #value(e: Expression): void {
    walkExpression(e, {
      expression: (x) => {
        if (x.kind === 'logical') {
          this.#value(x.left)
          const before = this.#state && new State([this.#state])
          this.#value(x.right)
          this.#state = joined(before, this.#state)
          return false
        }
        // Its operand is read between two barriers.
        const isMeeting = x.kind === 'builtin-call' && isBarrier(x.name)
        if (!isMeeting && (x.kind !== 'builtin-call' || x.name !== 'arrayLength')) return undefined
        for (const a of x.args)
          if (a.kind === 'address-of') for (const o of operandsOf(a.place)) this.#value(o)
        if (isMeeting) this.#barrier(x)
        return false
      },
      leave: (x) => {
        if (x.kind === 'load' || x.kind === 'address-of') this.#touch(moduleVariableOf(x.place))
        if (x.kind !== 'call') return
        const { stored, used, hasBarrier } = this.#analyses.effects.of(x.function.body)
        if (hasBarrier) for (const p of this.#state?.pending ?? []) this.unfit.add(p.copy)
        const touched = hasBarrier ? [...this.#copies.values()].map((c) => c.variable) : [...stored, ...used]
        for (const variable of touched) this.#touch(variable)
      },
    })
  }

  #barrier(call: BuiltinCall): void {
    if (this.#state === undefined) return
    const pending = [...this.#state.pending]
    const isNeeded = ({ copy, age }: Pending) =>
      this.#known === undefined ||
      age === mostGroups ||
      this.#known.get(call)?.has(this.#copies.get(copy)!.variable) === true
    const kept = Math.min(
      this.waits.get(call) ?? mostGroups + 1,
      ...pending.filter(isNeeded).map((p) => p.age),
    )
    if (kept <= mostGroups) this.waits.set(call, kept)
    this.#state = new State()
    this.#state.since.add(call)
    for (const p of pending)
      if (p.age < kept) {
        this.hasGroups = true
        this.#state.add({ ...p, age: p.age + 1 }, this.#numbers.get(p.copy)!)
      }
  }

  /** Records a use of a variable in the stretch after the last barrier. */
  #use(variable: ModuleVariable): void {
    for (const call of this.#state!.since) {
      const used = this.after.get(call) ?? new Set()
      this.after.set(call, used.add(variable))
    }
  }

  #touch(variable: ModuleVariable | undefined): void {
    if (variable?.space !== 'workgroup' || this.#state === undefined) return
    for (const p of this.#state.pending)
      if (this.#copies.get(p.copy)!.variable === variable) this.unfit.add(p.copy)
    this.#state.touched.add(variable)
    this.#use(variable)
  }

  #copy(copy: Assign): void {
    if (this.#state === undefined) return
    const { variable } = this.#copies.get(copy)!
    if (this.#state.touched.has(variable)) this.unfit.add(copy)
    for (const p of this.#state.pending)
      if (this.#copies.get(p.copy)!.variable === variable && !this.#areApart(p, copy))
        this.unfit.add(copy).add(p.copy)
    this.#use(variable)
    this.#state.add({ copy, index: 'fresh', age: 0 }, this.#numbers.get(copy)!)
  }

  /** Do a pending copy and one that follows write different elements? */
  #areApart(before: Pending, copy: Assign): boolean {
    const [a, b] = [this.#copies.get(before.copy)!, this.#copies.get(copy)!]
    if (before.index === 'unknown' || a.base !== b.base) return false
    if (before.copy === copy) return before.index === 'turned'
    return [...b.elements].every((element) => !a.elements.has(element))
  }
}
