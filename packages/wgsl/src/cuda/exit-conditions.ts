import { isVariable } from '../analysis/loop-approach.ts'
import type { LoopCounters } from '../analysis/loop-counter.ts'
import type { Block, Expression, For, IrModule, Statement } from '../ir.ts'
import { some } from '../walk.ts'

/**
 * Finds the exit conditions of loops whose computation must be hidden from the compiler. nvcc 13.0 assumes
 * that a loop ends after its first iteration if its exit compares an integer with a bound, the integer moves
 * away from that bound by a constant, and starts at a constant distance from it, as in `for (var k = n; k <=
 * n; k--)`. nvcc also recognizes the comparison through a flag, `==`, `max`, `select` or a `switch`.
 *
 * A hidden condition may still be a constant that nvcc has found by inlining, and `unknown` hides it from ptxas
 * too: where `and.pred`, `or.pred` or `xor.pred` has a constant operand, ptxas 13.0 branches on the later
 * value of the other operand. nvcc writes such a loop for `for (var k = 0u; k < 2u; k++) { if (a != b) {
 * break; } }`, where k becomes a predicate, and the loop ended after its first round.
 *
 * These conditions are hidden, except for literals:
 *
 * - the condition of `break if`, and of a `while`;
 * - the condition of a `for`, unless its sides approach each other by a known step or its trip count is
 *   known, and one side is the counter, or consists of sums and products of it with literals: the counter
 *   then moves towards its bound, even if nvcc subtracts from both sides what they share, as it does in
 *   `for (var k = n; n - k <= n; k--)`. If a `return` in its body leaves a loop around it too, it is hidden;
 * - in a loop, the condition of an `if` with a `break` or a `return` in it, and the selector of a `switch`
 *   with a `return` in it;
 * - the condition of an `if` and the selector of a `switch` with a `continue` in it, if the body of the loop
 *   has a `break` or a `return`.
 */
export function findExitConditions(module: IrModule, counters: LoopCounters): ReadonlySet<Expression> {
  const found = new Set<Expression>()
  const add = (condition: Expression | undefined) => {
    if (condition !== undefined && condition.kind !== 'literal') found.add(condition)
  }
  const leaves = new Map<Block, boolean>()
  /** Whether the body of a loop has a `break` or a `return`, found once for all its conditions. */
  const mayLeave = (loop: Block): boolean => {
    const known = leaves.get(loop) ?? has(loop, 'break', 'return')
    leaves.set(loop, known)
    return known
  }
  /** `loop` is the body of the innermost loop around the statement. */
  const visit = (s: Statement | undefined, loop: Block | undefined): void => {
    switch (s?.kind) {
      case 'block':
        for (const inner of s.statements) visit(inner, loop)
        return
      case 'if':
        if (loop !== undefined && (has(s, 'break', 'return') || (has(s, 'continue') && mayLeave(loop))))
          add(s.condition)
        visit(s.then, loop)
        visit(s.otherwise, loop)
        return
      case 'switch':
        if (loop !== undefined && (has(s, 'return') || (has(s, 'continue') && mayLeave(loop))))
          add(s.selector)
        for (const { body } of s.clauses) visit(body, loop)
        return
      case 'loop':
        add(s.breakIf)
        visit(s.body, s.body)
        visit(s.continuing, s.body)
        return
      case 'for': {
        const comesNearer =
          comparesCounter(s) && (counters.approach(s) !== undefined || counters.mostTrips(s) !== undefined)
        if (!comesNearer || (loop !== undefined && has(s.body, 'return'))) add(s.condition)
        visit(s.body, s.body)
      }
    }
  }
  for (const fn of module.functions) visit(fn.body, undefined)
  return found
}

function has(part: Statement, ...kinds: readonly Statement['kind'][]): boolean {
  return some(part, ({ kind }) => kinds.some((k) => k === kind))
}

/**
 * Whether one side of the loop's condition is the variable that its update changes, or the result of sums and
 * products of it with literals.
 */
function comparesCounter({ condition, update }: For): boolean {
  if (condition?.kind !== 'binary' || update?.kind !== 'compound-assign') return false
  const { target } = update
  const isCounter = (e: Expression): boolean =>
    e.kind === 'binary'
      ? (e.operator === '+' || e.operator === '*') && isCounter(e.left) && e.right.kind === 'literal'
      : e.kind === 'load' && target.kind === 'variable' && isVariable(e.place, target.variable)
  return isCounter(condition.left) || isCounter(condition.right)
}
