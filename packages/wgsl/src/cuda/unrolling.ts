import type { LoopCounters } from '../analysis/loop-counter.ts'
import type { Block, For, IrFunction, IrModule, Statement } from '../ir.ts'
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

/** The number of iterations that are joined in a loop with another number of them. */
const joined = 4

/** The maximum number of statements of each of them, with those of the functions that it calls. */
const mostOfJoined = 16

/**
 * The loops to unroll, and by how many iterations: by all of them (infinity) `for` loops with a known number of at most
 * 32 iterations and at most 2048 statements after unrolling, and by 4 others that are short and have no loops in them, if
 * it turns out that their number of iterations is known before. Unrolling keeps local arrays in registers, and lets the
 * loads of several iterations wait together. It does not change the meaning.
 */
export function findUnrolledLoops(
  module: IrModule,
  counters: Pick<LoopCounters, 'exactTrips'>,
): ReadonlyMap<For, number> {
  const unrolled = new Map<For, number>()
  const sizes = new Map<IrFunction, number>()
  let total = 0
  for (const fn of module.functions) {
    total += expandedSize(fn.body)
    sizes.set(fn, simpleSize(fn))
  }
  return total > mostOfKernel ? new Map() : unrolled

  /** Statements executed, with completely unrolled loops expanded; other loops count once. */
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
        const count = counters.exactTrips(s) ?? Infinity
        const expanded = body * Math.max(count, 1)
        if (count <= mostTrips && expanded <= mostStatements) {
          unrolled.set(s, Infinity)
          return expanded
        }
        if (simpleSize(s.body) <= mostOfJoined) unrolled.set(s, joined)
        return 1 + body
      }
      default:
        return ownSize(s)
    }
  }

  /** The number of statements with those of calls; infinite with loops. */
  function simpleSize(node: IrFunction | Block): number {
    let size = 0
    walk(node, {
      statement(s) {
        const isLoop = s.kind === 'for' || s.kind === 'loop'
        size += isLoop ? Infinity : ownSize(s)
        return !isLoop
      },
      expression(e) {
        if (e.kind === 'call') size += sizes.get(e.function)!
      },
    })
    return size
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
