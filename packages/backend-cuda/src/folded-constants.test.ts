import { describe, expect, it } from 'vitest'
import {
  hasConvertedSelections,
  hasJoinedSelections,
  hasShiftedSigns,
  hasSplitConstants,
} from './folded-constants.ts'
import { isFoundIn, kernelOf } from './testing/ptx-kernel.ts'

/** Of which the sign is 0: so many operations that nvcc does not know. */
const deepBits = Array.from({ length: 9 }, (_, i) => `and.b32 %r${30 + i}, %r${10 + i}, 6;`)
  .concat('mov.u32 %r20, 6;')
  .concat(Array.from({ length: 9 }, (_, i) => `min.u32 %r20, %r20, %r${30 + i};`))
  .join('\n')

describe('halves of what is compared with a literal', () => {
  const compare = 'setp.eq.s32 %p1, %r1, 17;\n@%p1 bra $on;\n$on:\n'

  it.each([
    ['both', 'mov.b32 {%rs1, %rs2}, %r1;'],
    // For sm_100 and newer.
    ['one', '{ .reg .b16 tmp; mov.b32 {tmp, %rs2}, %r1; }'],
    ['both, as operands of one instruction', 'add.f16x2 %r2, %r1, %r3;'],
    ['both of a copy', 'mov.b32 %r4, %r1;\nmov.b32 {%rs1, %rs2}, %r4;'],
  ])('are found: %s', (_, statements) => {
    expect(isFoundIn(kernelOf(compare + statements), hasSplitConstants)).toBe(true)
  })

  it.each([
    ['another', 'mov.b32 {%rs1, %rs2}, %r5;'],
    ['one that is put together', 'mov.b32 %r1, {%rs1, %rs2};'],
  ])('are not taken for halves of %s', (_, statements) => {
    expect(isFoundIn(kernelOf(compare + statements), hasSplitConstants)).toBe(false)
  })
})

describe('joined selections', () => {
  const two = 'selp.u32 %r1, 1, 0, %p1;\nselp.u32 %r2, 7, 0, %p2;\n'
  const compare = 'or.b32 %r3, %r1, %r2;\nsetp.eq.s32 %p3, %r3, 0;'

  it.each([
    ['two literals each', two + compare],
    [
      'a literal and a copy of one',
      `${two}cvt.s32.s8 %r4, %r2;\nor.b32 %r3, %r4, %r1;\nsetp.ne.s32 %p3, %r3, 0;`,
    ],
    ['what a loop changes', `mov.u32 %r1, %r9;\n${two}${compare}`],
    ['selections', `${two}selp.b32 %r4, %r1, %r2, %p4;\nand.b32 %r3, %r4, %r1;\nsetp.eq.s32 %p3, %r3, 1;`],
    [
      'two literals each, and others',
      `${two}or.b32 %r4, %r1, %r2;\nor.b32 %r5, %r4, %r9;\nsetp.eq.s32 %p3, %r5, 0;`,
    ],
  ])('are found where predicates choose %s', (_, statements) => {
    expect(isFoundIn(kernelOf(statements), hasJoinedSelections)).toBe(true)
  })

  it.each([
    ['only one operand', `selp.u32 %r1, 1, 0, %p1;\nld.global.u32 %r2, [%rd1];\n${compare}`],
    ['variables', `selp.b32 %r1, %r8, %r9, %p1;\nselp.u32 %r2, 1, 0, %p2;\n${compare}`],
    ['what is not compared', `${two}or.b32 %r3, %r1, %r2;\nst.global.u32 [%rd1], %r3;`],
    ['what is added', `${two}add.s32 %r3, %r1, %r2;\nsetp.eq.s32 %p3, %r3, 0;`],
    ['a number and the one before it', `selp.u32 %r1, 8, 16, %p1;\nadd.s32 %r2, %r1, -1;\n${compare}`],
  ])('are none where predicates choose %s', (_, statements) => {
    expect(isFoundIn(kernelOf(statements), hasJoinedSelections)).toBe(false)
  })
})

describe('conversions of what is chosen from literals', () => {
  const converted = 'selp.b32 %r2, 1, 0, %p1;\ncvt.rn.f32.u32 %f1, %r2;\n'

  it.each([
    ['as they are', `${converted}mov.b32 %r3, %f1;`],
    ['of a copy', 'selp.b32 %r2, 1, 0, %p1;\nmov.u32 %r4, %r2;\ncvt.rn.f32.s32 %f1, %r4;\nmov.b32 %r3, %f1;'],
    [
      'of a register',
      'mov.u32 %r9, 0;\nselp.b32 %r2, %r9, 1, %p1;\ncvt.rn.f32.u32 %f1, %r2;\nmov.b32 %r3, %f1;',
    ],
  ])('are found of which the bits are used: %s', (_, statements) => {
    expect(isFoundIn(kernelOf(statements), hasConvertedSelections)).toBe(true)
  })

  it.each([
    ['only the number is used', `${converted}add.f32 %f2, %f1, %f3;`],
    ['one may be another', 'selp.b32 %r2, %r8, 0, %p1;\ncvt.rn.f32.u32 %f1, %r2;\nmov.b32 %r3, %f1;'],
  ])('are accepted where %s', (_, statements) => {
    expect(isFoundIn(kernelOf(statements), hasConvertedSelections)).toBe(false)
  })
})

describe('shifts of what is negative', () => {
  const union = 'or.b32 %r2, %r1, -2147483648;\n'

  it.each([
    ['a union', `${union}shr.s32 %r3, %r2, 1;`],
    ['a copy of a union', `${union}mov.u32 %r4, %r2;\nshr.s32 %r3, %r4, 2;`],
    [
      'the complement of an intersection',
      'and.b32 %r2, %r1, 2147483647;\nnot.b32 %r4, %r2;\nshr.s32 %r3, %r4, 1;',
    ],
    ['by seven', `${union}shr.s32 %r3, %r2, 7;`],
    ['what many operations give', `${union}${deepBits}xor.b32 %r4, %r2, %r20;\nshr.s32 %r3, %r4, 1;`],
    [
      'what is shifted to the left',
      'or.b32 %r2, %r1, 1073741824;\nshl.b32 %r4, %r2, 1;\nshr.s32 %r3, %r4, 1;',
    ],
  ])('are found in %s', (_, statements) => {
    expect(isFoundIn(kernelOf(statements), hasShiftedSigns)).toBe(true)
  })

  it.each([
    ['by eight', `${union}shr.s32 %r3, %r2, 8;`],
    ['without a sign', `${union}shr.u32 %r3, %r2, 1;`],
    ['of a union with something else', 'or.b32 %r2, %r1, %r8;\nshr.s32 %r3, %r2, 1;'],
  ])('are accepted %s', (_, statements) => {
    expect(isFoundIn(kernelOf(statements), hasShiftedSigns)).toBe(false)
  })
})
