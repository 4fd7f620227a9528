import type { Analyses } from '../analysis/analyses.ts'
import type { LoopCounter } from '../analysis/loop-counter.ts'
import { builtinFacts } from '../builtin-functions.ts'
import type {
  Assign,
  Block,
  BuiltinCall,
  Call,
  Evaluated,
  For,
  IndexPlace,
  IrModule,
  LocalVariable,
  ModuleVariable,
  Place,
  Return,
  Statement,
} from '../ir.ts'
import { moduleVariableOf, operandsOf, rootOf, walk } from '../walk.ts'
import { type Copy, copyOf } from './copy-elements.ts'
import { areApart, joined, type Pending, State } from './pending-copies.ts'

/**
 * Copies from storage to workgroup memory that may still be pending after their statement, and where the
 * invocation waits for them. In WGSL, a copy with an index past the end of the array may write any element;
 * here two such copies write the last one, in either order.
 */
export interface AsyncCopies {
  /** `tile[i] = buffer[j]`, to be written as an asynchronous copy. */
  readonly copies: ReadonlySet<Assign>
  /**
   * The barriers before which the invocation waits for its copies, each with the number of the latest groups
   * that may remain pending. A group consists of the copies between one barrier and the next.
   */
  readonly waits: ReadonlyMap<BuiltinCall, number>
  /** Whether some copies remain pending across a barrier, so that barriers end groups. */
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

/** The maximum number of barriers across which a copy remains pending. */
const mostGroups = 7

/**
 * The maximum number of steps: pending copies at the statements that are followed, each time that they are,
 * and elements of copies that are compared. In a larger kernel no copy becomes asynchronous.
 */
const mostSteps = 200_000

/**
 * Finds the copies whose delay cannot be observed. On an H200 a copy that bypasses the registers makes an f32
 * matrix product 1.06 to 1.15 times as fast, for elements of 16 bytes. Smaller elements would need more
 * instructions than a load and a store, so they are not changed.
 *
 * Copies of the following form are asynchronous if all copies of the kernel have it; otherwise each copy is a
 * load and a store:
 *
 * - It is `V[e + c] = S[j];` in the entry point. V is an array in workgroup memory, S an array in a
 *   read-only storage variable that is not a `buffer`; the elements are vectors of four f32, i32 or u32.
 *   Evaluating j writes nothing.
 * - e is a sum of multiples of built-in values, uniforms, lets, and operations on these. c is a constant, or
 *   adds `step · k` with the counter k of a loop around it whose number of iterations is known, no two of
 *   which give the same c.
 * - On every path from the previous barrier to it, and from it to the next barrier, the invocation touches V
 *   only by copies of this form to `V[e + c']` with c' ≠ c modulo 2³², and no part of e is declared again.
 *   Loads, stores, built-in functions that receive the address, and calls of functions that contain any of
 *   these touch V.
 * - The control flow of the entry point consists of blocks, `if`, `for`, `while`, `break` and `return`, and
 *   no function that it calls contains a barrier.
 *
 * The invocation waits for a copy to V before each return that it reaches, and before the first barrier after
 * which V is touched, even by a copy, on some path to the next barrier. A copy may therefore remain pending
 * across barriers, as in a loop with three or more stages: barriers count the groups.
 *
 * This is sound because the path from a copy back to itself has c' = c, so a cycle without a barrier is
 * excluded. In one stretch between barriers the targets of one invocation inside the array therefore differ;
 * the source is never written; and an access by another invocation in the same stretch would already be a
 * data race. In a stretch during which a copy to V remains pending, no invocation touches V, since all are in
 * the same stretch.
 */
export function findAsyncCopies({ entryPoint }: IrModule, analyses: Analyses): AsyncCopies {
  const copies = new Set<Assign>()
  walk(entryPoint.body, {
    statement(s) {
      if (s.kind === 'assign' && isCopy(s, analyses)) copies.add(s)
    },
  })
  if (copies.size === 0) return noAsyncCopies
  const found = new FoundCopies()
  const search = new Search(analyses, copies, found, 'always')
  if (!search.run(entryPoint.body)) return noAsyncCopies
  const patient = new Search(analyses, copies, found, 'until touched')
  return { ...(patient.run(entryPoint.body) ? patient : search), copies }
}

/** Whether a statement is `tile[i] = buffer[j]` of 16 bytes, from read-only storage to workgroup memory. */
function isCopy({ target, value }: Assign, { effects }: Analyses): boolean {
  const { type } = target
  if (type.kind !== 'vector' || type.size !== 4 || type.scalar === 'f16') return false
  if (value.kind !== 'load' || effects.writes(value) || !isElement(value.place)) return false
  const from = moduleVariableOf(value.place)
  if (from?.space !== 'storage' || from.access !== 'read' || from.type.kind === 'buffer') return false
  if (!isElement(target) || target.base.kind !== 'variable') return false
  return moduleVariableOf(target)?.space === 'workgroup'
}

function isElement(place: Place): place is IndexPlace {
  return place.kind === 'index-place' && place.base.type.kind === 'array'
}

/** Thrown if a kernel does not have the form for asynchronous copies, or is too large to analyse. */
class GivesUp extends Error {}

/** The results of searching a kernel that do not depend on the path to a statement. */
class FoundCopies {
  readonly copies = new Map<Assign, Copy | undefined>()
  /** The workgroup variables that are touched between a barrier and the next one, as recorded so far. */
  readonly #touched = new Map<BuiltinCall, Set<ModuleVariable>>()

  touchedAfter(barrier: BuiltinCall): Set<ModuleVariable> {
    const touched = this.#touched.get(barrier) ?? new Set()
    this.#touched.set(barrier, touched)
    return touched
  }
}

/** Follows the control flow of the entry point with the copies that may be pending. */
class Search {
  readonly waits = new Map<BuiltinCall, number>()
  hasGroups = false
  readonly returns = new Set<Return>()
  waitsAtEnd = false
  readonly #analyses: Analyses
  readonly #copies: ReadonlySet<Assign>
  readonly #found: FoundCopies
  readonly #wait: 'always' | 'until touched'
  /** Undefined in unreachable code, whose statements are skipped. */
  #state: State | undefined = new State()
  #breaks: State | undefined
  /** The counters of the loops whose bodies contain the current statement. */
  readonly #counters = new Map<LocalVariable, LoopCounter>()
  #steps = 0

  /**
   * A barrier waits either for all copies, or only for those to variables that are touched after it. A
   * previous search that always waits has recorded these variables.
   */
  constructor(
    analyses: Analyses,
    copies: ReadonlySet<Assign>,
    found: FoundCopies,
    wait: 'always' | 'until touched',
  ) {
    this.#analyses = analyses
    this.#copies = copies
    this.#found = found
    this.#wait = wait
  }

  /** Returns false if no copy can be asynchronous. */
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
    this.#take(1 + this.#state.size)
    switch (s.kind) {
      case 'block':
        for (const inner of s.statements) this.#statement(inner)
        return
      case 'let':
        this.#value(s.value)
        this.#state.change((p) => (p.copy.lets.includes(s.variable.id) ? 'unknown' : p.index))
        return
      case 'var':
        if (s.initial !== undefined) this.#value(s.initial)
        this.#state.change((p) =>
          p.copy.counter === s.variable && p.index === 'stepped' ? 'fresh' : p.index,
        )
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
            p.index === 'fresh' && p.copy.counter === root.variable ? 'stepped' : p.index,
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
      case 'for':
        this.#statement(s.initial)
        this.#repeat(s)
        return
      case 'break':
        this.#breaks = joined(this.#breaks, this.#state)
        this.#state = undefined
        return
      case 'return':
        if (this.#state.isPending) this.returns.add(s)
        this.#state = undefined
        return
      default:
        throw new GivesUp()
    }
  }

  #take(steps: number): void {
    this.#steps += steps
    if (this.#steps > mostSteps) throw new GivesUp()
  }

  #call(call: Call): void {
    const { stored, used, hasBarrier } = this.#analyses.effects.of(call.function.body)
    if (hasBarrier) throw new GivesUp()
    for (const variable of [...stored, ...used]) this.#touch(variable)
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

  /** In the body of a loop its counter has the values of the iterations; the condition has one more. */
  #repeat(loop: For): void {
    const outer = this.#breaks
    this.#breaks = undefined
    const counter = this.#analyses.counters.of(loop)
    let head = this.#state!
    for (;;) {
      const before = head.size
      this.#state = new State([head])
      if (loop.condition !== undefined) {
        this.#value(loop.condition)
        this.#breaks = joined(this.#breaks, this.#state)
      }
      if (counter !== undefined) this.#counters.set(counter.variable, counter)
      this.#statement(loop.body)
      this.#statement(loop.update)
      head = joined(head, this.#state)!
      if (head.size === before) break
    }
    this.#state = this.#breaks
    this.#breaks = outer
  }

  /** Visits the accesses and the barriers in an expression. */
  #value(e: Evaluated): void {
    walk(e, {
      expression: (x) => {
        if (x.kind === 'logical') {
          this.#value(x.left)
          const before = new State([this.#state!])
          this.#value(x.right)
          this.#state = joined(before, this.#state)
          return false
        }
      },
      leave: (x) => {
        if (x.kind === 'load') this.#touch(moduleVariableOf(x.place))
        if (x.kind === 'builtin-call') this.#builtin(x)
        if (x.kind === 'call') this.#call(x)
      },
    })
  }

  /** A barrier comes before the function's access; a second barrier after it does not matter for copies. */
  #builtin(call: BuiltinCall): void {
    if (builtinFacts[call.name].barrier !== undefined) this.#barrier(call)
    const [address] = call.args
    if (address?.kind === 'address-of') this.#touch(moduleVariableOf(address.place))
  }

  #barrier(call: BuiltinCall): void {
    const pending = [...this.#state!.pending]
    const touched = this.#found.touchedAfter(call)
    const isNeeded = ({ copy, age }: Pending) =>
      this.#wait === 'always' || age === mostGroups || touched.has(copy.variable)
    const kept = Math.min(
      this.waits.get(call) ?? mostGroups + 1,
      ...pending.filter(isNeeded).map((p) => p.age),
    )
    if (kept <= mostGroups) this.waits.set(call, kept)
    this.#state = new State()
    this.#state.since.add(touched)
    for (const p of pending)
      if (p.age < kept) {
        this.hasGroups = true
        this.#state.add({ ...p, age: p.age + 1 })
      }
  }

  #touch(variable: ModuleVariable | undefined): void {
    if (variable === undefined) return
    const state = this.#state!
    for (const p of state.pending) if (p.copy.variable === variable) throw new GivesUp()
    state.touched.add(variable)
    for (const touched of state.since) touched.add(variable)
  }

  #copy(statement: Assign): void {
    const state = this.#state!
    const known = this.#found.copies
    if (!known.has(statement))
      known.set(statement, copyOf(statement, known.size, this.#analyses, this.#counters))
    const copy = known.get(statement)
    this.#take(copy?.elements.size ?? 0)
    if (copy === undefined || state.touched.has(copy.variable)) throw new GivesUp()
    for (const p of state.pending) {
      if (p.copy.variable !== copy.variable) continue
      this.#take(copy.elements.size)
      if (!areApart(p, copy)) throw new GivesUp()
    }
    for (const touched of state.since) touched.add(copy.variable)
    state.add({ copy, index: 'fresh', age: 0 })
  }
}
