import { describe, expect, it } from 'vitest'
import { kernelOf } from './testing/ptx-kernel.ts'
import { hasTwinPredicates } from './twin-predicates.ts'

describe('twin predicates', () => {
  it.each([
    ['and and or', 'and.pred %p3, %p1, %p2;\nor.pred %p4, %p2, %p1;'],
    ['or and xor of copies', 'mov.pred %p5, %p1;\nor.pred %p3, %p5, %p2;\nxor.pred %p4, %p1, %p2;'],
    ['and and or of negations', 'not.pred %p5, %p2;\nand.pred %p3, %p1, %p5;\nor.pred %p4, %p1, %p2;'],
  ])('are found: %s', (_, statements) => {
    expect(hasTwinPredicates(kernelOf(statements))).toBe(true)
  })

  it.each([
    ['and twice', 'and.pred %p3, %p1, %p2;\nand.pred %p4, %p2, %p1;'],
    ['others', 'and.pred %p3, %p1, %p2;\nor.pred %p4, %p1, %p5;'],
    ['integers', 'and.b32 %r3, %r1, %r2;\nor.b32 %r4, %r1, %r2;'],
    [
      'predicates that are set twice',
      'mov.pred %p5, %p1;\n@%p6 mov.pred %p5, %p2;\nand.pred %p3, %p5, %p7;\nor.pred %p4, %p1, %p7;',
    ],
  ])('are none: %s', (_, statements) => {
    expect(hasTwinPredicates(kernelOf(statements))).toBe(false)
  })
})
