import type { For, IrModule, Statement } from '../ir.ts'
import { walk } from '../walk.ts'
import { words } from './cost.ts'

/** The maximum number of statements of an unrolled loop, including the loops in it. */
export const mostStatements = 2048

/**
 * The maximum number of statements of a kernel with unrolled loops, without those of calls. In a longer one no
 * loop is unrolled.
 */
const mostOfKernel = 6000

/** The maximum number of iterations of an unrolled loop. */
const mostTrips = 32

/**
 * Finds the loops to unroll: `for` loops with a known number of at most 32 iterations and at most 2048
 * statements after unrolling. Unrolling keeps local arrays in registers. It is a hint to the compiler that
 * does not change the meaning. `trips` returns exact trip counts.
 */
export function findUnrolledLoops(
  module: IrModule,
  trips: (loop: For) => number | undefined,
): ReadonlySet<For> {
  const unrolled = new Set<For>()
  const size = module.functions.reduce((total, fn) => total + expandedSize(fn.body), 0)
  return size > mostOfKernel ? new Set() : unrolled

  /** Statements executed, with unrolled loops expanded; other loops count once. */
  function expandedSize(s: Statement | undefined): number {
    if (s === undefined) return 0
    switch (s.kind) {
      case 'block':
        return s.statements.reduce((n, inner) => n + expandedSize(inner), 0)
      case 'if':
        return ownSize(s) + expandedSize(s.then) + expandedSize(s.otherwise)
      case 'switch':
        return ownSize(s) + s.clauses.reduce((n, c) => n + expandedSize(c.body), 0)
      case 'loop':
        return ownSize(s) + expandedSize(s.body) + expandedSize(s.continuing)
      case 'for': {
        const body = expandedSize(s.body) + expandedSize(s.update)
        const count = trips(s) ?? Infinity
        const expanded = body * Math.max(count, 1)
        if (count > mostTrips || expanded > mostStatements) return 1 + body
        unrolled.add(s)
        return expanded
      }
      default:
        return ownSize(s)
    }
  }
}

/** The number of operations on words of a usual statement; each four more count as a statement. */
const usualSize = 64

/**
 * The number of statements as which one counts, without the statements in it and without the functions that it
 * calls: 1, or more if it has long expressions, on vectors and matrices for instance, or copies of arrays. A
 * built-in function may be dozens of instructions.
 */
export function ownSize(s: Statement): number {
  let size = 0
  walk(s, {
    statement: (inner) => inner === s,
    expression(e) {
      size += words(e) * (e.kind === 'builtin-call' ? 8 : Number(e.kind !== 'value' && e.kind !== 'constant'))
    },
  })
  return 1 + Math.max(0, size - usualSize) / 4
}
