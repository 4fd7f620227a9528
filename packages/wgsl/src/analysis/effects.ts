import { isBarrier, isCollective } from '../collectives.ts'
import type { Expression, IrFunction, IrModule, ModuleVariable, Place, Statement } from '../ir.ts'
import { isConstantMemory, moduleVariableOf, rootOf, walk } from '../walk.ts'

/** What executing code can do, with the functions that it calls. */
export interface Summary {
  /** It may change memory that code outside reads, or holds a collective call. */
  readonly writes: boolean
  /** What it does depends on memory that may change. */
  readonly reads: boolean
  /** The invocations of the workgroup may wait for each other in it. */
  readonly hasBarrier: boolean
  /** Variables of the module that it stores to, and those that it loads or passes by address. */
  readonly stored: ReadonlySet<ModuleVariable>
  readonly used: ReadonlySet<ModuleVariable>
}

/** What code can do to memory. */
export interface Effects {
  /** May evaluating the expression change memory that another one reads, or does it hold a collective call? */
  writes(expression: Expression): boolean
  /** May the value be another when it is evaluated after something that `writes`? */
  reads(expression: Expression): boolean
  of(code: Statement | Expression): Summary
}

/** Finds what the functions of a module can do, and so what any code in it can. */
export function findEffects(module: IrModule): Effects {
  const functions = new Map<IrFunction, Summary>()
  const known = new WeakMap<object, Summary>()
  const summarise = (code: IrFunction | Statement | Expression): Summary => {
    const found: MutableSummary = {
      writes: false,
      reads: false,
      hasBarrier: false,
      stored: nothing,
      used: nothing,
    }
    /** Parts of code are summarised by themselves, once; a function as a whole, since its own variables matter to its parts. */
    const addPart = (part: Statement | Expression): boolean => {
      if (part === code || code.kind === 'function') return false
      add(found, of(part))
      return true
    }
    walk(code, {
      statement: (s) => (addPart(s) ? false : undefined),
      place(place, use) {
        const root = rootOf(place)
        const variable = root.kind === 'variable' ? root.variable : undefined
        if (variable?.kind === 'module-variable') {
          if (use === 'store' || use === 'load-store') add(found, { stored: new Set([variable]) })
          if (use !== 'store') add(found, { used: new Set([variable]) })
        }
        // Code outside cannot see what a function stores in its own variables; an expression stores only through its calls.
        const isOwn = variable?.kind === 'local-variable' && code.kind === 'function'
        if (isOwn) return undefined
        if (use === 'store' || use === 'load-store') found.writes = true
        if ((use === 'load' || use === 'load-store') && !isConstant(place)) found.reads = true
        if (use === 'address' && code.kind === 'function' && !isConstant(place)) found.reads = true
        return undefined
      },
      expression(e) {
        if (addPart(e)) return false
        if (e.kind === 'builtin-call') {
          if (e.name.startsWith('atomic') || isCollective(e)) found.writes = true
          if (e.name.startsWith('atomic') || e.name === 'workgroupUniformLoad') found.reads = true
          if (e.name === 'subgroupMatrixLoad') found.reads = true
          const [address] = e.args
          if (e.name === 'subgroupMatrixStore' && address?.kind === 'address-of') {
            const variable = moduleVariableOf(address.place)
            if (variable !== undefined) add(found, { stored: new Set([variable]) })
          }
          if (isBarrier(e.name)) found.hasBarrier = true
        }
        const callee = e.kind === 'call' ? functions.get(e.function) : undefined
        if (callee !== undefined) add(found, callee)
        return undefined
      },
    })
    return found
  }
  const of = (code: Statement | Expression) => {
    const summary = known.get(code) ?? summarise(code)
    known.set(code, summary)
    return summary
  }
  for (const fn of module.functions) functions.set(fn, summarise(fn))
  return { of, writes: (e) => of(e).writes, reads: (e) => of(e).reads }
}

type MutableSummary = { -readonly [K in keyof Summary]: Summary[K] }

const nothing: ReadonlySet<ModuleVariable> = new Set()

function add(summary: MutableSummary, part: Partial<Summary>): void {
  summary.writes ||= part.writes ?? false
  summary.reads ||= part.reads ?? false
  summary.hasBarrier ||= part.hasBarrier ?? false
  summary.stored = union(summary.stored, part.stored ?? nothing)
  summary.used = union(summary.used, part.used ?? nothing)
}

/** One of the sets where it holds the other: most code shares the set of a part. */
function union<T>(a: ReadonlySet<T>, b: ReadonlySet<T>): ReadonlySet<T> {
  if (a.size === 0) return b
  const more = [...b].filter((element) => !a.has(element))
  return more.length === 0 ? a : new Set([...a, ...more])
}

function isConstant(place: Place): boolean {
  const variable = moduleVariableOf(place)
  return variable !== undefined && isConstantMemory(variable)
}
