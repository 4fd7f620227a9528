import { isCollective } from '../collectives.ts'
import type { BuiltinCall, Expression, IrFunction, IrModule } from '../ir.ts'
import { rootOf, walk, walkExpression } from '../walk.ts'

/** What evaluating an expression can do to memory. */
export interface Effects {
  /** It may change memory that an expression evaluated before or after it reads, or it holds a collective call. */
  writes(expression: Expression): boolean
  /** Its value may be another when it is evaluated after something that `writes`. */
  reads(expression: Expression): boolean
}

/** Finds which expressions of a module write memory, so that emitters keep WGSL's left-to-right order only where it shows. */
export function findEffects(module: IrModule): Effects {
  const writingFunctions = new Set<IrFunction>()
  const readingFunctions = new Set<IrFunction>()
  const expressionWrites = (e: Expression): boolean => {
    let found = false
    walkExpression(e, {
      expression(x) {
        if (found) return false
        if (x.kind === 'builtin-call' && hasEffect(x)) found = true
        if (x.kind === 'call' && writingFunctions.has(x.function)) found = true
        return !found
      },
    })
    return found
  }
  const expressionReads = (e: Expression): boolean => {
    let found = false
    walkExpression(e, {
      expression(x) {
        if (found) return false
        if (x.kind === 'load' && !isConstantMemory(x.place)) found = true
        if (x.kind === 'builtin-call' && (x.name.startsWith('atomic') || x.name === 'workgroupUniformLoad'))
          found = true
        if (x.kind === 'call' && readingFunctions.has(x.function)) found = true
        return !found
      },
    })
    return found
  }
  for (const fn of module.functions) {
    let writes = false
    let reads = false
    walk(fn, {
      place(place, use) {
        const root = rootOf(place)
        const own = root.kind === 'variable' && root.variable.kind === 'local-variable'
        if (own) return undefined
        if (use !== 'load' && use !== 'address') writes = true
        if (use !== 'store' && !isConstantMemory(place)) reads = true
        return undefined
      },
      expression(e) {
        if (e.kind === 'builtin-call' && hasEffect(e)) writes = true
        if (e.kind === 'call') {
          if (writingFunctions.has(e.function)) writes = true
          if (readingFunctions.has(e.function)) reads = true
        }
        return undefined
      },
    })
    if (writes) writingFunctions.add(fn)
    if (reads) readingFunctions.add(fn)
  }
  return {
    writes: memoised(expressionWrites),
    reads: memoised(expressionReads),
  }
}

/** Atomics write; a collective call must stand under no condition of the emitter's own, so it counts as an effect too. */
function hasEffect(e: BuiltinCall): boolean {
  return e.name.startsWith('atomic') || isCollective(e)
}

function isConstantMemory(place: Parameters<typeof rootOf>[0]): boolean {
  const root = rootOf(place)
  return (
    root.kind === 'variable' &&
    root.variable.kind === 'module-variable' &&
    (root.variable.space === 'uniform' ||
      (root.variable.space === 'storage' && root.variable.access === 'read'))
  )
}

function memoised(compute: (e: Expression) => boolean): (e: Expression) => boolean {
  const known = new WeakMap<Expression, boolean>()
  return (e) => {
    let value = known.get(e)
    if (value === undefined) {
      value = compute(e)
      known.set(e, value)
    }
    return value
  }
}
