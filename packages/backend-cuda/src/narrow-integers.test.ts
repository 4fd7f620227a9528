import { describe, expect, it } from 'vitest'
import { hasComparedExtremes, hasExtendedBytes, hasJoinedFields } from './narrow-integers.ts'
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
