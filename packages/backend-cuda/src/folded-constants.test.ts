import { describe, expect, it } from 'vitest'
import {
  hasConvertedSelections,
  hasExtremesOfBothSigns,
  hasJoinedSelections,
  hasLiteralOperands,
  hasOrderedSelections,
  hasShiftedSigns,
  hasSplitConstants,
} from './folded-constants.ts'
import { kernelOf } from './testing/ptx-kernel.ts'

/** Of which nvcc does not know the result, %r9. */
const hidden = '// begin inline asm\nneg.s32 %r9, %r10;\n// end inline asm\n'

describe('halves of what is compared with a literal', () => {
  const compare = 'setp.eq.s32 %p1, %r1, 17;\n@%p1 bra $on;\n$on:\n'

  it.each([
    ['both', 'mov.b32 {%rs1, %rs2}, %r1;'],
    // For sm_100 and newer.
    ['one', '{ .reg .b16 tmp; mov.b32 {tmp, %rs2}, %r1; }'],
    ['both, as operands of one instruction', 'add.f16x2 %r2, %r1, %r3;'],
    ['both of a copy', 'mov.b32 %r4, %r1;\nmov.b32 {%rs1, %rs2}, %r4;'],
  ])('are found: %s', (_, statements) => {
    expect(hasSplitConstants(kernelOf(compare + statements))).toBe(true)
  })

  it.each([
    ['another', 'mov.b32 {%rs1, %rs2}, %r5;'],
    ['one that is put together', 'mov.b32 %r1, {%rs1, %rs2};'],
  ])('are not taken for halves of %s', (_, statements) => {
    expect(hasSplitConstants(kernelOf(compare + statements))).toBe(false)
  })
})

describe('literals that nvcc leaves to ptxas', () => {
  const float = 'mov.f32 %f1, 0f3F000000;\nsqrt.approx.f32 %f2, %f1;\n'

  it.each([
    ['an integer', 'bfind.shiftamt.u32 %r9, 1;'],
    ['one of a register', 'mov.u32 %r1, 1;\nmov.u32 %r2, %r1;\nbfind.shiftamt.u32 %r9, %r2;'],
    ['one of two registers', 'mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nadd.s32 %r9, %r1, %r2;'],
    ['an integer from a float', 'mov.f32 %f1, 0f3F000000;\ncvt.rzi.u32.f32 %r9, %f1;'],
    ['16 bits', 'mov.u16 %rs1, 5;\nneg.s16 %rs2, %rs1;'],
    ['a part of 64 bits', 'mov.u64 %rd1, 5;\nshr.u64 %rd2, %rd1, 1;\ncvt.u32.u64 %r1, %rd2;'],
    ['a predicate', `${float}setp.lt.f32 %p1, %f2, %f1;`],
    ['with the bits of a float', `${float}mov.b32 %r1, %f2;\nand.b32 %r3, %r2, %r1;`],
    [
      'with those of two halves',
      `mov.b16 %rs1, 15360;\nadd.f16 %rs2, %rs1, %rs1;\nprmt.b32 %r3, %r2, %rs2, 1;`,
    ],
    [
      'with those of a float in one of two branches',
      `${float}mov.u32 %r1, 5;\n@%p1 bra $L__1;\nmov.b32 %r1, %f2;\n$L__1:\nadd.s32 %r2, %r1, %r3;`,
    ],
    ['products of four bytes with 0', 'mov.u32 %r1, 0;\ndp4a.u32.u32 %r2, %r3, %r1, 0;'],
  ])('are found: %s', (_, statements) => {
    expect(hasLiteralOperands(kernelOf(statements))).toBe(true)
  })

  it.each([
    ['another operand', 'mov.u32 %r1, 1;\nadd.s32 %r3, %r1, %r2;'],
    ['a register with two values', 'mov.u32 %r1, 1;\n@%p1 mov.u32 %r1, 2;\nadd.s32 %r3, %r1, 5;'],
    ['a shuffle', 'mov.u32 %r1, -2;\nshfl.sync.idx.b32 %r2|%p1, %r1, 0, 31, -1;'],
    ['products of four bytes', 'mov.u32 %r1, 10;\ndp4a.u32.u32 %r2, %r3, %r1, %r4;'],
    ['a vote', 'mov.pred %p1, -1;\nvote.sync.ballot.b32 %r1, %p1, -1;'],
    ['an address', 'mov.u32 %r1, tile;\nadd.s32 %r2, %r1, 16;'],
    ['64 bits', 'mov.u32 %r1, 16;\ncvt.u64.u32 %rd1, %r1;'],
    ['a float', `${float}add.f32 %f3, %f2, %f4;\nst.global.f32 [%rd1], %f2;`],
    ['a float that is compared with others', `${float}setp.lt.f32 %p1, %f3, %f2;`],
    ['a float from an integer', 'mov.u32 %r1, 7;\ncvt.rn.f32.u32 %f1, %r1;\nmul.f32 %f2, %f3, %f1;'],
  ])('are accepted in what gives or has %s', (_, statements) => {
    expect(hasLiteralOperands(kernelOf(statements))).toBe(false)
  })
})

describe('extremes of both signs', () => {
  const zero = 'mov.u32 %r8, -1;\n\tnot.b32 %r9, %r8;\n\t'

  it.each([
    ['a minimum of a maximum', 'max.u32 %r2, %r1, %r9;\nmin.s32 %r3, %r2, %r9;'],
    ['a maximum of a minimum', 'min.s32 %r2, %r1, 0;\nmax.u32 %r3, %r9, %r2;'],
    ['one of what may be the other', 'max.u32 %r2, %r1, %r9;\nor.b32 %r4, %r2, %r9;\nmin.s32 %r3, %r4, %r9;'],
  ])('are found in %s', (_, statements) => {
    expect(hasExtremesOfBothSigns(kernelOf(zero + statements))).toBe(true)
  })

  it.each([
    ['have the same sign', 'max.u32 %r2, %r1, %r9;\nmin.u32 %r3, %r2, %r9;'],
    ['have different operands', 'max.u32 %r2, %r1, %r9;\nmin.s32 %r3, %r1, %r9;'],
    ['have no 0', 'max.u32 %r2, %r1, 5;\nmin.s32 %r3, %r2, %r9;'],
  ])('are none where a minimum and a maximum %s', (_, statements) => {
    expect(hasExtremesOfBothSigns(kernelOf(zero + statements))).toBe(false)
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
    [
      'what only ptxas knows',
      `// begin inline asm\nnot.b32 %r8, %r7;\n// end inline asm\nselp.b32 %r1, 1, %r8, %p1;\nselp.u32 %r2, 1, 0, %p2;\n${compare}`,
    ],
    ['selections', `${two}selp.b32 %r4, %r1, %r2, %p4;\nand.b32 %r3, %r4, %r1;\nsetp.eq.s32 %p3, %r3, 1;`],
    [
      'two literals each, and others',
      `${two}or.b32 %r4, %r1, %r2;\nor.b32 %r5, %r4, %r9;\nsetp.eq.s32 %p3, %r5, 0;`,
    ],
  ])('are found where predicates choose %s', (_, statements) => {
    expect(hasJoinedSelections(kernelOf(statements))).toBe(true)
  })

  it.each([
    ['only one operand', `selp.u32 %r1, 1, 0, %p1;\nld.global.u32 %r2, [%rd1];\n${compare}`],
    ['variables', `selp.b32 %r1, %r8, %r9, %p1;\nselp.u32 %r2, 1, 0, %p2;\n${compare}`],
    ['what is not compared', `${two}or.b32 %r3, %r1, %r2;\nst.global.u32 [%rd1], %r3;`],
    ['what is added', `${two}add.s32 %r3, %r1, %r2;\nsetp.eq.s32 %p3, %r3, 0;`],
    ['a number and the one before it', `selp.u32 %r1, 8, 16, %p1;\nadd.s32 %r2, %r1, -1;\n${compare}`],
  ])('are none where predicates choose %s', (_, statements) => {
    expect(hasJoinedSelections(kernelOf(statements))).toBe(false)
  })
})

describe('unsigned integers chosen from literals', () => {
  const chosen = 'selp.b32 %r2, -1, 0, %p1;\n'

  it.each([
    ['what is hidden from nvcc', `${hidden}${chosen}setp.ge.u32 %p2, %r2, %r9;`],
    ['it, as the second operand', `${hidden}${chosen}setp.gt.u32 %p2, %r9, %r2;`],
    ['what follows from that', `${hidden}and.b32 %r7, %r8, %r9;\n${chosen}setp.lt.u32 %p2, %r2, %r7;`],
    ['0', `${chosen}setp.lt.u32 %p2, %r2, 0;`],
    ['a copy of them', `${hidden}${chosen}neg.s32 %r3, %r2;\nsetp.lt.u32 %p2, %r3, %r9;`],
    [
      'those set by branches',
      `${hidden}mov.u32 %r2, 0;\n@%p1 bra $L__1;\nmov.u32 %r2, -1;\n$L__1:\nsetp.lt.u32 %p2, %r2, %r9;`,
    ],
  ])('are found that are compared by order with %s', (_, statements) => {
    expect(hasOrderedSelections(kernelOf(statements))).toBe(true)
  })

  it.each([
    ['are compared with something else', `${chosen}setp.ge.u32 %p2, %r2, %r7;`],
    ['are compared for equality', `${hidden}${chosen}setp.eq.s32 %p2, %r2, %r9;`],
    ['are compared with a sign', `${hidden}${chosen}setp.lt.s32 %p2, %r2, %r9;`],
    ['may be others', `${hidden}selp.b32 %r2, %r6, 0, %p1;\nsetp.ge.u32 %p2, %r2, %r9;`],
    ['are terms', `${hidden}${chosen}add.s32 %r3, %r2, %r6;\nsetp.ge.u32 %p2, %r3, %r9;`],
  ])('are accepted where they %s', (_, statements) => {
    expect(hasOrderedSelections(kernelOf(statements))).toBe(false)
  })
})

describe('conversions of what is chosen from literals', () => {
  const converted = 'selp.b32 %r2, 1, 0, %p1;\ncvt.rn.f32.u32 %f1, %r2;\n'

  it.each([
    ['as they are', `${converted}mov.b32 %r3, %f1;`],
    ['of a copy', 'selp.b32 %r2, 1, 0, %p1;\nmov.u32 %r4, %r2;\ncvt.rn.f32.s32 %f1, %r4;\nmov.b32 %r3, %f1;'],
    [
      'of what only ptxas knows',
      `${hidden}selp.b32 %r2, %r9, 1, %p1;\ncvt.rn.f32.u32 %f1, %r2;\nmov.b32 %r3, %f1;`,
    ],
  ])('are found of which the bits are used: %s', (_, statements) => {
    expect(hasConvertedSelections(kernelOf(statements))).toBe(true)
  })

  it.each([
    ['only the number is used', `${converted}add.f32 %f2, %f1, %f3;`],
    ['one may be another', 'selp.b32 %r2, %r8, 0, %p1;\ncvt.rn.f32.u32 %f1, %r2;\nmov.b32 %r3, %f1;'],
  ])('are accepted where %s', (_, statements) => {
    expect(hasConvertedSelections(kernelOf(statements))).toBe(false)
  })
})

describe('shifts with a sign that only ptxas knows', () => {
  const known = `${hidden}xor.b32 %r8, %r9, -2147483648;\n`

  it.each([
    ['a union', `${known}or.b32 %r2, %r1, %r8;\nshr.s32 %r3, %r2, 1;`],
    ['a copy of a union', `${known}or.b32 %r2, %r1, %r8;\nmov.u32 %r4, %r2;\nshr.s32 %r3, %r4, 2;`],
    [
      'the complement of an intersection',
      `${known}and.b32 %r2, %r1, %r8;\nnot.b32 %r4, %r2;\nshr.s32 %r3, %r4, 1;`,
    ],
    ['by seven', `${known}or.b32 %r2, %r1, %r8;\nshr.s32 %r3, %r2, 7;`],
    [
      'of what many operations give',
      'or.b32 %r1, %r8, -2147483648;\nxor.b32 %r2, %r1, %r9;\nshr.s32 %r3, %r2, 1;',
    ],
  ])('are found in %s', (_, statements) => {
    expect(hasShiftedSigns(kernelOf(statements))).toBe(true)
  })

  it.each([
    ['by eight', `${known}or.b32 %r2, %r1, %r8;\nshr.s32 %r3, %r2, 8;`],
    ['without a sign', `${known}or.b32 %r2, %r1, %r8;\nshr.u32 %r3, %r2, 1;`],
    ['of a union with something else', 'or.b32 %r2, %r1, %r8;\nshr.s32 %r3, %r2, 1;'],
  ])('are accepted %s', (_, statements) => {
    expect(hasShiftedSigns(kernelOf(statements))).toBe(false)
  })
})
