import { describe, expect, it } from 'vitest'
import { mayUnrollCounts } from './counted-loops.ts'
import { kernelsOf } from './ptx-instructions.ts'

describe('loops that ptxas may unroll', () => {
  interface Parts {
    /** What stands before the loop. */
    readonly first?: string
    readonly round?: string
    /** Sets %p1, with which the loop goes on. */
    readonly test?: string
    readonly mark?: string
  }
  const count = {
    first: 'ld.global.u32 %r2, [%rd1];',
    round: 'add.s32 %r2, %r2, -5;',
    test: 'setp.gt.s32 %p1, %r2, %r3;',
  }
  const isFound = (parts: Parts) => {
    const { first, round, test, mark = '' } = { ...count, ...parts }
    const body = `\t${first}\n$loop:\n\t${mark}\n\t${round}\n\t${test}\n\t@%p1 bra $loop;\n$out:\n\tret;`
    return kernelsOf(`.visible .entry k(.param .u64 p)\n{\n\t.reg .pred %p<9>;\n${body}\n}`).some(
      mayUnrollCounts,
    )
  }

  it.each<[string, Parts]>([
    ['to a register', {}],
    ['to a literal', { test: 'setp.gt.s32 %p1, %r2, 7;' }],
    ['by a register', { round: 'sub.s32 %r2, %r2, %r5;' }],
    ['by what is computed from one', { round: 'neg.s32 %r6, %r5;\nadd.s32 %r2, %r2, %r6;' }],
    ['to what is computed from the counter', { test: 'and.b32 %r3, %r2, 7;\nsetp.gt.s32 %p1, %r2, %r3;' }],
    ['with copies', { round: 'add.s32 %r4, %r2, -5;\nmov.u32 %r2, %r4;' }],
    [
      'by steps on two ways',
      { round: 'add.s32 %r4, %r2, 1;\n@%p3 bra $on;\nadd.s32 %r4, %r2, 2;\n$on:\nmov.u32 %r2, %r4;' },
    ],
    [
      'from a large literal to a literal',
      {
        first: 'mov.u32 %r2, -1000000000;',
        round: 'add.s32 %r2, %r2, 30000001;',
        test: 'setp.lt.s32 %p1, %r2, 1140000000;',
      },
    ],
    [
      'from a literal to a literal, but not always',
      {
        first: 'mov.u32 %r2, 0;\n@%p3 bra $loop;\nld.global.u32 %r2, [%rd1];',
        round: 'add.s32 %r2, %r2, 1;',
        test: 'setp.lt.u32 %p1, %r2, 9;',
      },
    ],
    [
      'from a register that is not always small to a literal',
      {
        first: 'mov.u32 %r9, 0;\n@%p3 ld.global.u32 %r9, [%rd1];\nmov.u32 %r2, %r9;',
        round: 'add.s32 %r2, %r2, 1;',
        test: 'setp.lt.u32 %p1, %r2, 9;',
      },
    ],
    ['in place', { round: 'add.s32 %r2, %r2, 1;\nor.b32 %r2, %r2, %r5;' }],
    [
      'from a register that not every round sets',
      { round: 'add.s32 %r2, %r2, 1;\n@%p3 ld.global.u32 %r2, [%rd1];' },
    ],
    ['in 64 bits', { round: 'add.s64 %rd2, %rd2, 8;', test: 'setp.lt.u64 %p1, %rd2, %rd3;' }],
    ['with another condition', { test: 'setp.ge.s32 %p2, %r2, %r3;\nor.pred %p1, %p2, %p3;' }],
    [
      'with a number as the condition',
      { test: 'setp.ge.s32 %p2, %r2, %r3;\nselp.u32 %r7, 1, 0, %p2;\nsetp.eq.s32 %p1, %r7, 1;' },
    ],
    [
      'with the end in the middle',
      {
        test: 'setp.ge.s32 %p2, %r2, %r3;\n@%p2 bra $out;\nld.global.u32 %r7, [%rd1];\nsetp.eq.s32 %p1, %r7, 1;',
      },
    ],
    [
      'around a loop that is not marked',
      {
        round:
          'add.s32 %r2, %r2, 1;\n$in:\nld.global.u32 %r7, [%rd1];\nsetp.eq.s32 %p4, %r7, 1;\n@%p4 bra $in;',
      },
    ],
  ])('are found if they count %s', (_, parts) => {
    expect(isFound(parts)).toBe(true)
  })

  it.each<[string, Parts]>([
    [
      'are around one that is marked',
      {
        round:
          'add.s32 %r2, %r2, 1;\n$in:\n.pragma "nounroll";\nld.global.u32 %r7, [%rd1];\nsetp.eq.s32 %p4, %r7, 1;\n@%p4 bra $in;',
      },
    ],
    ['are marked', { mark: '.pragma "nounroll";' }],
    [
      'count from a small literal to another',
      { first: 'mov.u32 %r2, 0;', round: 'add.s32 %r2, %r2, 1;', test: 'setp.lt.u32 %p1, %r2, 129;' },
    ],
    [
      'count from a register that is a small literal',
      {
        first: 'mov.u32 %r9, 0;\nmov.u32 %r2, %r9;',
        round: 'add.s32 %r2, %r2, 1;',
        test: 'setp.lt.u32 %p1, %r2, 129;',
      },
    ],
    ['end at what they load', { round: 'ld.global.u32 %r2, [%rd1];' }],
    [
      'end at a condition in a register that each round sets anew, in place',
      {
        round: 'ld.global.u32 %r4, [%rd1];\nsetp.ne.s32 %p2, %r4, %r5;',
        test: 'selp.u32 %r2, 1, 0, %p2;\nor.b32 %r2, %r2, %r6;\nsetp.ne.s32 %p1, %r2, 0;',
      },
    ],
    ['go on by different steps', { round: 'min.s32 %r6, %r2, 8;\nsub.s32 %r2, %r2, %r6;' }],
    ['compare floats', { round: 'add.f32 %f2, %f2, %f3;', test: 'setp.gt.f32 %p1, %f2, %f4;' }],
    ['have only a branch back to other code', { first: 'bra $begin;\n$loop:\nret;\n$begin:', test: '' }],
  ])('are accepted if they %s', (_, parts) => {
    expect(isFound(parts)).toBe(false)
  })
})
