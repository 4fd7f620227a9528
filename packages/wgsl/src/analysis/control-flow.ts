import type { Block, Statement } from '../ir.ts'

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
