import type { LoopCounters } from '../analysis/loop-counter.ts'
import type { Expression, IrModule, Statement } from '../ir.ts'
import { some } from '../walk.ts'

/**
 * The conditions by which loops are left whose text hides from the compiler how they are computed. nvcc 13.0
 * takes a loop to end after its first round where it is left when an integer passes a bound, moves away from that
 * bound by a constant, and begins a constant apart from it, as in `for (var k = n; k <= n; k--)`. The assembler
 * sees through the text: the machine code of most hot loops stays as it is.
 *
 * Left as they are:
 *
 * - the condition of a `for` whose sides come nearer to each other by a known step, or whose rounds are known in
 *   number: it moves towards its bound;
 * - conditions of `==`, `!=` and comparisons of floats, and of `&&`, `||` and `!` of such, which are no bound that
 *   an integer passes.
 *
 * All others count: of loops, `break if`, and `if` statements in loops with a `break` or `return` in them.
 */
export function findExitConditions(module: IrModule, counters: LoopCounters): ReadonlySet<Expression> {
  const found = new Set<Expression>()
  const add = (condition: Expression | undefined) => {
    if (condition !== undefined && !isNoBound(condition)) found.add(condition)
  }
  const visit = (s: Statement | undefined, inLoop: boolean): void => {
    switch (s?.kind) {
      case 'block':
        for (const inner of s.statements) visit(inner, inLoop)
        return
      case 'if':
        if (inLoop && some(s, ({ kind }) => kind === 'break' || kind === 'return')) add(s.condition)
        visit(s.then, inLoop)
        visit(s.otherwise, inLoop)
        return
      case 'switch':
        for (const { body } of s.clauses) visit(body, inLoop)
        return
      case 'loop':
        add(s.breakIf)
        visit(s.body, true)
        visit(s.continuing, true)
        return
      case 'for':
        if (counters.approach(s) === undefined && counters.mostTrips(s) === undefined) add(s.condition)
        visit(s.body, true)
    }
  }
  for (const fn of module.functions) visit(fn.body, false)
  return found
}

function isNoBound(e: Expression): boolean {
  if (e.kind === 'logical') return isNoBound(e.left) && isNoBound(e.right)
  if (e.kind === 'unary') return isNoBound(e.value)
  if (e.kind !== 'binary') return e.kind === 'literal'
  const { type } = e.left
  const isFloat = type?.kind === 'scalar' && (type.scalar === 'f32' || type.scalar === 'f16')
  return e.operator === '==' || e.operator === '!=' || isFloat
}
