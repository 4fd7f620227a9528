import { describe, expect, it } from 'vitest'
import { hasNegatedBounds } from './negated-bounds.ts'
import { kernelsOf, type PtxKernel } from './ptx-instructions.ts'

function kernelOf(ptx: string): PtxKernel {
  return kernelsOf(ptx)[0]!
}

describe('bounds of loops', () => {
  const loop = (bound: string, round = 'add.s32 %r2, %r2, -5;', pragma = '') =>
    `.visible .entry k(.param .u64 p)\n{\n\t.reg .pred %p<9>;\n\tld.global.u32 %r1, [%rd1];\n\tmov.u32 %r2, 10;\n\t${bound}\n$loop:\n\t${pragma}\n\t${round}\n\tsetp.gt.s32 %p1, %r2, %r3;\n\t@%p1 bra $loop;\n\tret;\n}`

  it.each([
    ['a negation', 'neg.s32 %r3, %r1;'],
    ['a copy of one', 'neg.s32 %r4, %r1;\nmov.u32 %r3, %r4;'],
    ['what may be one', 'neg.s32 %r4, %r1;\nmin.s32 %r3, %r4, %r5;'],
    ['a difference from 0', 'mov.u32 %r4, 0;\nsub.s32 %r3, %r4, %r1;'],
    ['a difference from what may be 0', 'mov.u32 %r4, -1;\nnot.b32 %r5, %r4;\nsub.s32 %r3, %r5, %r1;'],
    ['a product with -1', 'mul.lo.s32 %r3, %r1, -1;'],
    ['a complement, and 1', 'not.b32 %r4, %r1;\nadd.s32 %r3, %r4, 1;'],
    ['a negation in the loop', '', 'add.s32 %r2, %r2, -5;\nneg.s32 %r3, %r1;'],
    [
      'a negation, with another condition',
      'neg.s32 %r3, %r1;',
      'add.s32 %r2, %r2, -5;\nsetp.ge.and.s32 %p2, %r2, %r3, %p3;\n@%p2 bra $out;',
    ],
  ])('are found if they are %s', (_, bound, round?: string) => {
    expect(hasNegatedBounds(kernelOf(loop(bound, round).replace('\tret;', '$out:\n\tret;')))).toBe(true)
  })

  it.each([
    ['not negated', 'mov.u32 %r3, %r1;'],
    ['differences from another literal', 'mov.u32 %r4, 8;\nsub.s32 %r3, %r4, %r1;'],
    ['differences from a variable', 'sub.s32 %r3, %r1, %r5;'],
    ['of loops that ptxas must not unroll', 'neg.s32 %r3, %r1;', undefined, '.pragma "nounroll";'],
    ['negations that change with the counter', '', 'add.s32 %r2, %r2, -5;\nneg.s32 %r3, %r2;'],
    ['negations of floats', 'neg.f32 %f1, %f2;\nmov.b32 %r3, %f1;'],
  ])('are accepted if they are %s', (_, bound, round?: string, pragma?: string) => {
    expect(hasNegatedBounds(kernelOf(loop(bound, round, pragma)))).toBe(false)
  })

  it('are accepted if the counter begins at a negation', () => {
    const text = loop('mov.u32 %r3, %r1;').replace('mov.u32 %r2, 10;', 'neg.s32 %r2, %r1;')
    expect(hasNegatedBounds(kernelOf(text))).toBe(false)
  })
})
