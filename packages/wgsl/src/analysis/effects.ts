import { builtinFacts } from '../builtin-functions.ts'
import type { Evaluated, Expression, IrFunction, IrModule, ModuleVariable, Statement } from '../ir.ts'
import { isConstantMemory, moduleVariableOf, rootOf, walk } from '../walk.ts'

/** The possible effects of code, including the functions that it calls. */
export interface Summary {
  /** Whether it may change memory that other code reads, or contains a collective call. */
  readonly writes: boolean
  /** Whether its behaviour depends on memory that may change. */
  readonly reads: boolean
  /** Whether it may contain a workgroup barrier. */
  readonly hasBarrier: boolean
  /** The module variables that it stores to; `used` are those that it loads. */
  readonly stored: ReadonlySet<ModuleVariable>
  readonly used: ReadonlySet<ModuleVariable>
}

/** The effects of code on memory. */
export interface Effects {
  /**
   * Whether evaluating the expression may change memory that another expression reads, or includes a
   * collective call.
   */
  writes(expression: Expression): boolean
  /** Whether the value may differ if it is evaluated after something that `writes`. */
  reads(expression: Expression): boolean
  of(code: Statement | Evaluated): Summary
}

/** Finds the effects of a module's functions, and thus of any code in it. */
export function findEffects(module: IrModule): Effects {
  const functions = new Map<IrFunction, Summary>()
  const known = new WeakMap<object, Summary>()
  const summarise = (code: IrFunction | Statement | Evaluated): Summary => {
    const found: MutableSummary = {
      writes: false,
      reads: false,
      hasBarrier: false,
      stored: nothing,
      used: nothing,
      own: new Set(),
    }
    /**
     * Parts of code are summarized separately, once. A function is summarized as a whole, since its parts may
     * use its own variables.
     */
    const addPart = (part: Statement | Evaluated): boolean => {
      if (part === code || code.kind === 'function') return false
      add(found, of(part))
      return true
    }
    walk(code, {
      statement: (s) => (addPart(s) ? false : undefined),
      place(place, use) {
        // An address is that of a function's own variable or parameter; the effects of a callee on that memory
        // are in the callee's summary.
        const variable = moduleVariableOf(place)
        const loads = use === 'load' || use === 'load-store'
        const stores = use === 'store' || use === 'load-store'
        if (variable !== undefined) {
          if (stores) add(found, { stored: new Set([variable]) })
          if (loads) add(found, { used: new Set([variable]) })
        }
        // Other code cannot observe what a function does to its own variables.
        const isOwn = variable === undefined && rootOf(place).kind === 'variable'
        if (isOwn && code.kind === 'function') return
        if (stores) found.writes = true
        if (loads && !(variable && isConstantMemory(variable))) found.reads = true
      },
      expression(e) {
        // The address alone does not tell how the memory is used.
        if (e.kind !== 'address-of' && addPart(e)) return false
        if (e.kind === 'builtin-call') {
          const { isAtomic, together, barrier } = builtinFacts[e.name]
          if (isAtomic || together !== undefined) found.writes = true
          if (barrier !== undefined) found.hasBarrier = true
        }
        if (e.kind === 'call') add(found, functions.get(e.function)!)
      },
    })
    return found
  }
  const of = (code: Statement | Evaluated) => {
    const summary = known.get(code) ?? summarise(code)
    known.set(code, summary)
    return summary
  }
  for (const fn of module.functions) functions.set(fn, summarise(fn))
  return { of, writes: (e) => of(e).writes, reads: (e) => of(e).reads }
}

type MutableSummary = { -readonly [K in keyof Summary]: Summary[K] } & {
  /** The sets that belong to this summary alone, which grow in place. */
  readonly own: Set<ReadonlySet<ModuleVariable>>
}

const nothing: ReadonlySet<ModuleVariable> = new Set()

function add(summary: MutableSummary, part: Partial<Summary>): void {
  summary.writes ||= part.writes ?? false
  summary.reads ||= part.reads ?? false
  summary.hasBarrier ||= part.hasBarrier ?? false
  summary.stored = union(summary.stored, part.stored ?? nothing, summary.own)
  summary.used = union(summary.used, part.used ?? nothing, summary.own)
}

/**
 * The union of two sets. Returns an argument if it contains the other, since most code shares the set of one
 * of its parts, and otherwise a set in `own`, which is `a` if it is there already.
 */
function union<T>(a: ReadonlySet<T>, b: ReadonlySet<T>, own: Set<ReadonlySet<T>>): ReadonlySet<T> {
  if (a.size === 0) return b
  const more = [...b].filter((element) => !a.has(element))
  if (more.length === 0) return a
  const all = own.has(a) ? (a as Set<T>) : new Set(a)
  for (const element of more) all.add(element)
  own.add(all)
  return all
}
