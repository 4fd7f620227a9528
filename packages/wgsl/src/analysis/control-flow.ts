import type { Block, Expression, Statement } from '../ir.ts'
import { walk } from '../walk.ts'

/** Does the block hold only lets, `if` statements and returns? */
export function isStraight(block: Block): boolean {
  return block.statements.every(
    (s) =>
      s.kind === 'let' ||
      s.kind === 'return' ||
      (s.kind === 'block' && isStraight(s)) ||
      (s.kind === 'if' && isStraight(s.then) && (s.otherwise === undefined || isStraight(s.otherwise))),
  )
}

/** Is the end of the statement unreachable? */
export function alwaysLeaves(s: Statement): boolean {
  switch (s.kind) {
    case 'block':
      return s.statements.some(alwaysLeaves)
    case 'if':
      return s.otherwise !== undefined && alwaysLeaves(s.then) && alwaysLeaves(s.otherwise)
    default:
      return s.kind === 'return' || s.kind === 'break' || s.kind === 'continue'
  }
}

/** Does a statement or expression call a function of the module? */
export function hasCall(part: Statement | Expression): boolean {
  let found = false
  walk(part, {
    expression(e) {
      if (e.kind === 'call') found = true
      return !found
    },
  })
  return found
}
