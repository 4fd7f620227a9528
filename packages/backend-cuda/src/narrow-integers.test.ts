import { describe, expect, it } from 'vitest'
import {
  hasBytesOfChoices,
  hasComparedExtremes,
  hasConvertedParts,
  hasExtendedBytes,
  hasJoinedFields,
  hasMaskedHalves,
} from './narrow-integers.ts'
import { kernelOf } from './testing/ptx-kernel.ts'

describe('fields that are inserted into each other', () => {
  const fields = 'bfe.u32 %r2, %r1, 8, 16;\nbfe.u32 %r3, %r1, 24, 8;\n'

  it.each([
    ['at once', `${fields}bfi.b32 %r4, %r3, %r2, 24, 8;`],
    ['as copies', `${fields}mov.b32 %r5, %r3;\nbfi.b32 %r4, %r5, %r2, 24, 8;`],
    ['as sums', `${fields}add.s32 %r5, %r3, %r9;\nbfi.b32 %r4, %r2, %r5, 24, 8;`],
  ])('are found: %s', (_, statements) => {
    expect(hasJoinedFields(kernelOf(statements))).toBe(true)
  })

  it.each([
    ['a field is inserted into something else', `${fields}bfi.b32 %r4, %r3, %r9, 24, 8;`],
    ['something else is inserted into a field', `${fields}bfi.b32 %r4, %r9, %r2, 24, 8;`],
    ['fields are joined otherwise', `${fields}shl.b32 %r5, %r3, 24;\nor.b32 %r4, %r5, %r2;`],
  ])('are none where %s', (_, statements) => {
    expect(hasJoinedFields(kernelOf(statements))).toBe(false)
  })
})

describe('bytes with a sign', () => {
  it.each([
    ['32 bits', 'cvt.s8.s32 %rs1, %r1;\ncvt.u32.u16 %r2, %rs1;'],
    ['32 bits, as a copy', 'cvt.s8.s32 %rs1, %r1;\ncvt.s16.s8 %rs2, %rs1;\ncvt.u32.u16 %r2, %rs2;'],
    ['a product', 'cvt.s8.s32 %rs1, %r1;\nmul.wide.u16 %r2, %rs1, 3;'],
    ['a float', 'cvt.s8.s32 %rs1, %r1;\ncvt.rn.f32.u16 %f1, %rs1;'],
  ])('are found that are extended without it to %s', (_, statements) => {
    expect(hasExtendedBytes(kernelOf(statements))).toBe(true)
  })

  it.each([
    ['with the sign', 'cvt.s8.s32 %rs1, %r1;\ncvt.s32.s16 %r2, %rs1;'],
    ['after a product', 'cvt.s8.s32 %rs1, %r1;\nmul.lo.s16 %rs2, %rs1, 3;\ncvt.u32.u16 %r2, %rs2;'],
  ])('are accepted if they are extended %s', (_, statements) => {
    expect(hasExtendedBytes(kernelOf(statements))).toBe(false)
  })
})

describe('signed parts of integers', () => {
  const part = 'bfe.s32 %r2, %r1, 8, 8;\n'

  it.each([
    ['as an f32', `${part}cvt.rn.f32.u32 %f1, %r2;`],
    ['as an f16', `${part}cvt.rn.f16.u32 %rs1, %r2;`],
    ['as a copy', `${part}cvt.s32.s8 %r3, %r2;\ncvt.rn.f32.u32 %f1, %r3;`],
  ])('are found that are converted without the sign, %s', (_, statements) => {
    expect(hasConvertedParts(kernelOf(statements))).toBe(true)
  })

  it.each([
    ['are converted with the sign', `${part}cvt.rn.f32.s32 %f1, %r2;`],
    ['have none', 'bfe.u32 %r2, %r1, 8, 8;\ncvt.rn.f32.u32 %f1, %r2;'],
    ['are terms', `${part}add.s32 %r3, %r2, %r9;\ncvt.rn.f32.u32 %f1, %r3;`],
  ])('are accepted where they %s', (_, statements) => {
    expect(hasConvertedParts(kernelOf(statements))).toBe(false)
  })
})

describe('masks of an f16 from an f32', () => {
  const half = '{ .reg .b16 %t; cvt.rn.f16.f32 %t, %f1; mov.b16 %rs1, %t; }\n'

  it.each([
    ['of 16 bits', `${half}and.b16 %rs2, %rs1, 32767;`],
    ['in a register', `${half}mov.b16 %rs3, 255;\nand.b16 %rs2, %rs1, %rs3;`],
    ['of 32 bits', `${half}cvt.u32.u16 %r1, %rs1;\nand.b32 %r2, %r1, 255;`],
    [
      'of one half of two',
      `${half}mov.b32 %r1, {%rs1, %rs1};\nmov.b32 {%rs2, %rs3}, %r1;\nand.b16 %rs4, %rs2, 1;`,
    ],
    ['of a negation', `${half}xor.b16 %rs2, %rs1, -32768;\nand.b16 %rs3, %rs2, 255;`],
    ['as a byte', `${half}cvt.u16.u8 %rs2, %rs1;`],
    ['as a field', `${half}cvt.u32.u16 %r1, %rs1;\nbfe.u32 %r2, %r1, 0, 8;`],
  ])('are found: %s', (_, statements) => {
    expect(hasMaskedHalves(kernelOf(statements))).toBe(true)
  })

  it.each([
    ['an absolute value', `${half}abs.f16 %rs2, %rs1;`],
    ['a negation', `${half}xor.b16 %rs2, %rs1, -32768;`],
    ['a mask of a sum', `${half}add.f16 %rs2, %rs1, %rs3;\nand.b16 %rs4, %rs2, 255;`],
    ['a mask of an f32', 'cvt.rn.f32.s32 %f1, %r1;\nmov.b32 %r2, %f1;\nand.b32 %r3, %r2, 255;'],
  ])('are none: %s', (_, statements) => {
    expect(hasMaskedHalves(kernelOf(statements))).toBe(false)
  })
})

describe('extremes of 16 bits', () => {
  it.each([
    ['at once', 'max.s16 %rs2, %rs1, -128;\nsetp.eq.s16 %p1, %rs2, -128;'],
    ['after a sum', 'min.s16 %rs2, %rs1, 127;\nadd.s16 %rs3, %rs2, 1;\nsetp.lt.s16 %p1, %rs3, %rs9;'],
  ])('are found that are compared %s', (_, statements) => {
    expect(hasComparedExtremes(kernelOf(statements))).toBe(true)
  })

  it.each([
    ['are stored', 'max.s16 %rs2, %rs1, -128;\nst.global.u16 [%rd1], %rs2;'],
    ['have 32 bits', 'max.s32 %r2, %r1, -128;\nsetp.eq.s32 %p1, %r2, -128;'],
  ])('are accepted if they %s', (_, statements) => {
    expect(hasComparedExtremes(kernelOf(statements))).toBe(false)
  })
})

describe('bytes of results', () => {
  const permuted = 'prmt.b32 %r2, %r1, 0, 0x0123;\n'
  const joined = 'shl.b32 %r8, %r9, 8;\nor.b32 %r2, %r1, %r8;\n'
  const hidden =
    '// begin inline asm\nnot.b32 %r5, %r2;\n// end inline asm\n// begin inline asm\nnot.b32 %r6, %r5;\n// end inline asm\n'
  const chosen = 'selp.b32 %r3, %r9, %r1, %p1;\n'
  const mask = 'and.b32 %r4, %r2, 65535;'

  it.each([
    ['a permutation, behind a selection of its operand', `${permuted}${chosen}${mask}`],
    ['its second operand', `prmt.b32 %r2, %r8, %r1, 0x7432;\n${chosen}${mask}`],
    ['a copy of its operand', `mov.u32 %r5, %r1;\nprmt.b32 %r2, %r5, 0, 0x0123;\n${chosen}${mask}`],
    ['complements', `${permuted}${chosen}not.b32 %r5, %r2;\nnot.b32 %r6, %r5;\nand.b32 %r4, %r6, 255;`],
    ['16 bits', `${permuted}${chosen}cvt.u16.u32 %rs1, %r2;`],
    ['a half', `${permuted}${chosen}mov.b32 {%rs1, %rs2}, %r2;`],
    ['a byte that is stored', `${permuted}${chosen}st.global.u8 [%rd1], %r2;`],
    ['64 bits', `${permuted}${chosen}mov.b64 %rd2, {%r2, %r9};\nand.b64 %rd3, %rd2, 255;`],
    [
      'an operand of which a branch sets the copy again',
      `${permuted}mov.u32 %r3, %r1;\n@%p1 bra $L__1;\nmov.u32 %r3, %r9;\n$L__1:\n${mask}`,
    ],
    ['an operand copied under a condition', `${permuted}mov.u32 %r3, %r9;\n@%p1 mov.u32 %r3, %r1;\n${mask}`],
    ['a join that is hidden from nvcc', `${joined}${chosen}${hidden}and.b32 %r4, %r6, 255;`],
    [
      'a join with what is hidden',
      `${hidden}or.b32 %r7, %r1, %r6;\nadd.s32 %r8, %r7, %r9;\n${chosen}and.b32 %r4, %r8, 255;`,
    ],
  ])('are found: %s', (_, statements) => {
    expect(hasBytesOfChoices(kernelOf(statements))).toBe(true)
  })

  it.each([
    ['the operand is not selected', `${permuted}selp.b32 %r3, %r9, %r8, %p1;\n${mask}`],
    ['all bits are used', `${permuted}${chosen}shr.u32 %r4, %r2, 8;\nst.global.u32 [%rd1], %r4;`],
    ['something else is masked', `${permuted}${chosen}and.b32 %r4, %r7, 65535;`],
    ['not whole bytes are masked', `${permuted}${chosen}and.b32 %r4, %r2, 4095;`],
    ['nothing is hidden from nvcc', `${joined}${chosen}and.b32 %r4, %r2, 255;`],
    ['16 bits are stored', `${permuted}${chosen}st.global.u16 [%rd1], %rs1;`],
  ])('are accepted where %s', (_, statements) => {
    expect(hasBytesOfChoices(kernelOf(statements))).toBe(false)
  })
})
