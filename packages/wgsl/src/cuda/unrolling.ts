import type { For, IrModule, Statement } from '../ir.ts'
import { rootOf, walkStatement } from '../walk.ts'

/** The most statements of an unrolled loop, with the loops in it. */
const mostStatements = 2048
const mostStatementsForArrays = 8192

/** Finds loops that are worth unrolling: it keeps local arrays in registers, or costs little. `trips` gives exact trip counts. */
export function findUnrolledLoops(
  module: IrModule,
  trips: (loop: For) => number | undefined,
): ReadonlySet<For> {
  const unrolled = new Set<For>()
  for (const fn of module.functions) expandedSize(fn.body)
  return unrolled

  /** Statements executed, with unrolled loops expanded; other loops count once. */
  function expandedSize(s: Statement | undefined): number {
    if (s === undefined) return 0
    switch (s.kind) {
      case 'block':
        return s.statements.reduce((n, inner) => n + expandedSize(inner), 0)
      case 'if':
        return 1 + expandedSize(s.then) + expandedSize(s.otherwise)
      case 'switch':
        return 1 + s.clauses.reduce((n, c) => n + expandedSize(c.body), 0)
      case 'loop':
        return 1 + expandedSize(s.body) + expandedSize(s.continuing)
      case 'while':
        return 1 + expandedSize(s.body)
      case 'for': {
        const body = expandedSize(s.body) + 1
        const count = trips(s)
        if (count === undefined || count > 128) return 1 + body
        const expanded = body * Math.max(count, 1)
        const isForArrays = indexesRegisters(s)
        if (expanded > (isForArrays ? mostStatementsForArrays : mostStatements)) return 1 + body
        if (count > 16 && !isForArrays) return 1 + body
        unrolled.add(s)
        return expanded
      }
      default:
        return 1
    }
  }
}

/** Does the loop index a function's array or vector by a value that unrolling may make constant? */
function indexesRegisters(loop: For): boolean {
  let found = false
  walkStatement(loop.body, {
    place(place) {
      if (place.kind !== 'index-place' || place.index.kind === 'literal') return undefined
      const root = rootOf(place)
      if (
        root.kind === 'deref' ||
        root.variable.kind === 'local-variable' ||
        root.variable.space === 'private'
      )
        found = true
      return undefined
    },
    expression(e) {
      if (e.kind === 'index' && e.index.kind !== 'literal') found = true
      return undefined
    },
  })
  return found
}
