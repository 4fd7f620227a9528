import type { Block } from '../ir.ts'

/** Whether the block contains only lets, `if` statements and returns. */
export function isStraight(block: Block): boolean {
  return block.statements.every(
    (s) =>
      s.kind === 'let' ||
      s.kind === 'return' ||
      (s.kind === 'block' && isStraight(s)) ||
      (s.kind === 'if' && isStraight(s.then) && (s.otherwise === undefined || isStraight(s.otherwise))),
  )
}
