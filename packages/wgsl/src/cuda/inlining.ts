import type { For, IrFunction, IrModule } from '../ir.ts'
import { walk } from '../walk.ts'
import { mostStatements, ownSize } from './unrolling.ts'

/**
 * The maximum number of statements of a kernel whose functions are all inlined, with all calls expanded and
 * with the unrolled loops expanded too. The largest shipped kernels have 1,188 and 5,536. nvcc takes seconds
 * for a kernel of this size, and far more than proportionally longer for a larger one, whether this translator
 * or nvcc decides to inline.
 */
const mostInlined = { withCalls: 2000, withLoops: 6000 }

/** The maximum number of statements, with calls and loops expanded, of a function that is always inlined. */
const mostOfShortFunction = 50

/**
 * The functions to inline: all of them, or the short ones if the kernel would become very long. `trips` is the
 * factor of a loop when it is unrolled.
 */
export function findInlined(module: IrModule, trips: (loop: For) => number): ReadonlySet<IrFunction> {
  const withCalls = expandedStatements(module, () => 1)
  const withLoops = expandedStatements(module, trips)
  const all =
    withCalls.get(module.entryPoint)! <= mostInlined.withCalls &&
    withLoops.get(module.entryPoint)! <= mostInlined.withLoops
  return new Set(module.functions.filter((fn) => all || withLoops.get(fn)! <= mostOfShortFunction))
}

/**
 * The number of statements of each function with every call expanded, and `for` loops by the factor `trips`
 * unless they become too large with the functions that they call.
 */
function expandedStatements(module: IrModule, trips: (loop: For) => number): ReadonlyMap<IrFunction, number> {
  const counts = new Map<IrFunction, number>()
  for (const fn of module.functions) {
    let count = 0
    const before: number[] = []
    walk(fn, {
      statement(s) {
        count += ownSize(s)
        if (s.kind !== 'for') return
        before.push(count)
        count = 0
      },
      expression(e) {
        if (e.kind === 'call') count += counts.get(e.function)!
      },
      leave(node) {
        if (node.kind !== 'for') return
        const all = count * trips(node)
        count = before.pop()! + (all <= mostStatements ? all : count)
      },
    })
    counts.set(fn, count)
  }
  return counts
}
