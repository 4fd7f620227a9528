import { isBarrier, isCollective } from '../collectives.ts'
import type { Expression, IrFunction, IrModule, ModuleVariable, Place, Statement } from '../ir.ts'
import { rootOf, walk } from '../walk.ts'

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
    let writes = false
    let reads = false
    let hasBarrier = false
    const stored = new Set<ModuleVariable>()
    const used = new Set<ModuleVariable>()
    walk(code, {
      place(place, use) {
        const root = rootOf(place)
        const variable = root.kind === 'variable' ? root.variable : undefined
        if (variable?.kind === 'module-variable') {
          if (use === 'store' || use === 'load-store') stored.add(variable)
          if (use !== 'store') used.add(variable)
        }
        // What a function stores in its own variables nobody sees; an expression stores only through its calls.
        const isOwn = variable?.kind === 'local-variable' && code.kind === 'function'
        if (isOwn) return undefined
        if (use === 'store' || use === 'load-store') writes = true
        if ((use === 'load' || use === 'load-store') && !isConstantMemory(place)) reads = true
        if (use === 'address' && code.kind === 'function' && !isConstantMemory(place)) reads = true
        return undefined
      },
      expression(e) {
        if (e.kind === 'builtin-call') {
          if (e.name.startsWith('atomic') || isCollective(e)) writes = true
          if (e.name.startsWith('atomic') || e.name === 'workgroupUniformLoad') reads = true
          if (e.name === 'subgroupMatrixLoad') reads = true
          if (e.name === 'subgroupMatrixStore') noteStored(e.args[0]!, stored)
          if (isBarrier(e.name)) hasBarrier = true
        }
        const callee = e.kind === 'call' ? functions.get(e.function) : undefined
        if (callee === undefined) return undefined
        writes ||= callee.writes
        reads ||= callee.reads
        hasBarrier ||= callee.hasBarrier
        for (const v of callee.stored) stored.add(v)
        for (const v of callee.used) used.add(v)
        return undefined
      },
    })
    return { writes, reads, hasBarrier, stored, used }
  }
  for (const fn of module.functions) functions.set(fn, summarise(fn))
  const of = (code: Statement | Expression) => {
    const summary = known.get(code) ?? summarise(code)
    known.set(code, summary)
    return summary
  }
  return { of, writes: (e) => of(e).writes, reads: (e) => of(e).reads }
}

/** Adds the module variable that an address points into. */
function noteStored(address: Expression, stored: Set<ModuleVariable>): void {
  const root = address.kind === 'address-of' ? rootOf(address.place) : undefined
  if (root?.kind === 'variable' && root.variable.kind === 'module-variable') stored.add(root.variable)
}

function isConstantMemory(place: Place): boolean {
  const root = rootOf(place)
  return (
    root.kind === 'variable' &&
    root.variable.kind === 'module-variable' &&
    (root.variable.space === 'uniform' ||
      (root.variable.space === 'storage' && root.variable.access === 'read'))
  )
}
