import { describe, expect, it } from 'vitest'
import {
  hasDifferencesFromLiterals,
  hasLateDifferences,
  hasMaskedShifts,
  hasShuffledLiterals,
} from './late-literals.ts'
import { kernelOf } from './testing/ptx-kernel.ts'

describe('shuffles of literals', () => {
  const shuffle = 'shfl.sync.idx.b32 %r2|%p1, %r1, %r9, 31, -1;\n'

  it.each([
    ['one', `mov.u32 %r1, -2;\n${shuffle}`],
    ['a copy', `mov.u32 %r3, -2;\nmov.u32 %r1, %r3;\n${shuffle}`],
    ['what a shuffle sets again', `mov.u32 %r1, 8;\n$L__1:\n${shuffle}mov.u32 %r1, %r2;\n@%p2 bra $L__1;`],
    ['bits of such', `mov.u32 %r1, 8;\n$L__1:\n${shuffle}and.b32 %r1, %r2, 15;\n@%p2 bra $L__1;`],
  ])('are found: %s', (_, statements) => {
    expect(hasShuffledLiterals(kernelOf(statements))).toBe(true)
  })

  it.each([
    ['what is loaded', `ld.global.u32 %r1, [%rd1];\n${shuffle}`],
    ['the lane', `mov.u32 %r1, %laneid;\n${shuffle}`],
    [
      'what is selected',
      `ld.global.u32 %r3, [%rd1];\nsetp.eq.s32 %p3, %r3, 0;\nselp.b32 %r1, 1, 8, %p3;\n${shuffle}`,
    ],
    ['what branches change', `mov.u32 %r1, 0;\n@%p2 bra $L__1;\nmov.u32 %r1, 1;\n$L__1:\n${shuffle}`],
    ['a number of rounds', `mov.u32 %r1, 0;\n$L__1:\nadd.s32 %r1, %r1, 1;\n@%p2 bra $L__1;\n${shuffle}`],
    [
      'a sum of such numbers',
      `mov.u32 %r3, 0;\n$L__1:\nadd.s32 %r3, %r3, 1;\n@%p2 bra $L__1;\nshfl.sync.bfly.b32 %r4|%p1, %r3, 1, 31, -1;\nadd.s32 %r1, %r3, %r4;\n${shuffle}`,
    ],
  ])('are accepted: %s', (_, statements) => {
    expect(hasShuffledLiterals(kernelOf(statements))).toBe(false)
  })
})

describe('shifts of bits by low bits', () => {
  const amount = 'sub.s32 %r2, %r8, %r9;\nand.b32 %r3, %r2, 31;\n'

  it.each([
    ['of an integer', `and.b32 %r1, %r7, 1;\n${amount}shl.b32 %r4, %r1, %r3;`],
    ['of a copy', `and.b32 %r1, %r7, 1;\nmov.b32 %r5, %r1;\n${amount}shl.b32 %r4, %r5, %r3;`],
    [
      'by what is shuffled',
      'and.b32 %r1, %r7, 1;\nshfl.sync.idx.b32 %r2|%p1, %r8, 0, 31, -1;\nand.b32 %r3, %r2, 31;\nshl.b32 %r4, %r1, %r3;',
    ],
    ['in a part', `bfe.u32 %r1, %r7, 4, 1;\n${amount}shl.b32 %r4, %r1, %r3;`],
  ])('are found: %s', (_, statements) => {
    expect(hasMaskedShifts(kernelOf(statements))).toBe(true)
  })

  it.each([
    ['of all bits', `${amount}shl.b32 %r4, %r7, %r3;`],
    ['to the right', `and.b32 %r1, %r7, 1;\n${amount}shr.u32 %r4, %r1, %r3;`],
    [
      'by a loaded value',
      'ld.global.u32 %r2, [%rd1];\nand.b32 %r3, %r2, 31;\nand.b32 %r1, %r7, 1;\nshl.b32 %r4, %r1, %r3;',
    ],
    ['by all bits', 'and.b32 %r1, %r7, 1;\nsub.s32 %r2, %r8, %r9;\nshl.b32 %r4, %r1, %r2;'],
    ['by a literal', 'and.b32 %r1, %r7, 1;\nshl.b32 %r4, %r1, 3;'],
  ])('are accepted: %s', (_, statements) => {
    expect(hasMaskedShifts(kernelOf(statements))).toBe(false)
  })
})

it('notices a literal that the machine code adds more often than PTX', () => {
  const kernel = kernelOf(
    'popc.b32 %r2, %r8;\nsub.s32 %r4, %r2, %r3;\nmin.s32 %r5, %r4, %r6;\nadd.s32 %r10, %r11, 2;\nmin.s32 %r12, %r10, %r13;',
  )
  expect(hasLateDifferences(kernel, new Map([[2, 1]]))).toBe(false)
  expect(hasLateDifferences(kernel, new Map([[2, 2]]))).toBe(true)
})

describe('differences from literals that ptxas finds late', () => {
  const changed = 'mov.u32 %r2, -2;\n@%p1 bra $L__1;\nmov.u32 %r2, %r8;\n$L__1:\n'
  const least = 'sub.s32 %r4, %r2, %r3;\nmin.s32 %r5, %r4, %r6;\n'

  it.each([
    ['from what branches change', changed + least],
    ['from what is selected', `selp.b32 %r2, -2, %r8, %p1;\n${least}`],
    ['from selections of registers', `mov.u32 %r1, -2;\nselp.b32 %r2, %r8, %r1, %p1;\n${least}`],
    ['from bits of such', `${changed}mov.u32 %r7, %r2;\nand.b32 %r2, %r7, 255;\n${least}`],
    ['from what is computed', `popc.b32 %r2, %r8;\n${least}`],
    ['sums with negations', `${changed}neg.s32 %r7, %r3;\nadd.s32 %r4, %r7, %r2;\nmax.u32 %r5, %r4, %r6;`],
    ['copies', `${changed}sub.s32 %r4, %r2, %r3;\nmov.u32 %r7, %r4;\nmax.s32 %r5, %r6, %r7;`],
    [
      'comparisons that select',
      `${changed}sub.s32 %r4, %r2, %r3;\nsetp.lt.s32 %p2, %r4, %r6;\nselp.b32 %r5, %r4, %r6, %p2;`,
    ],
    ['sums of two', `${changed}selp.b32 %r3, -2, %r8, %p1;\nadd.s32 %r4, %r2, %r3;\nmin.s32 %r5, %r4, %r6;`],
    ['of what is shuffled', `shfl.sync.idx.b32 %r2|%p1, %r8, 0, 31, -1;\n${least}`],
    ['beside 0', `${changed}sub.s32 %r4, %r2, %r3;\nmax.s32 %r5, %r4, 0;`],
    ['beside another literal', `${changed}${least}add.s32 %r10, %r11, 3;\nmin.s32 %r12, %r10, %r13;`],
    [
      'beside the same one in a counter',
      `${changed}${least}add.s32 %r10, %r10, 2;\nsetp.lt.s32 %p3, %r10, %r13;`,
    ],
  ])('are found: %s', (_, statements) => {
    expect(hasLateDifferences(kernelOf(statements), new Map([[2, 1]]))).toBe(true)
  })

  it.each([
    ['where PTX adds the literal', `${changed}${least}add.s32 %r10, %r11, 2;\nmin.s32 %r12, %r10, %r13;`],
    ['where PTX subtracts it', `${changed}${least}sub.s32 %r10, %r11, -2;\nmin.s32 %r12, %r10, %r13;`],
    ['where PTX subtracts from it', `${changed}${least}sub.s32 %r10, 2, %r11;\nmin.s32 %r12, %r10, %r13;`],
    ['from a literal that nvcc knows', `mov.u32 %r2, 32;\n${least}`],
    ['from loaded values', `ld.global.u32 %r2, [%rd1];\n${least}`],
    ['in comparisons alone', `${changed}sub.s32 %r4, %r2, %r3;\nsetp.lt.s32 %p2, %r4, %r6;`],
    ['beside a literal', `${changed}sub.s32 %r4, %r2, %r3;\nmin.s32 %r5, %r4, 6;`],
    ['sums', `${changed}add.s32 %r4, %r3, %r2;\nmin.s32 %r5, %r4, %r6;`],
    ['for equality', `${changed}sub.s32 %r4, %r2, %r3;\nsetp.eq.s32 %p2, %r4, %r6;`],
    ['of floats', 'selp.f32 %f2, 0f3F800000, %f8, %p1;\nsub.f32 %f4, %f2, %f3;\nmin.f32 %f5, %f4, %f6;'],
  ])('are accepted: %s', (_, statements) => {
    expect(hasLateDifferences(kernelOf(statements), new Map([[2, 1]]))).toBe(false)
  })
})

it('notices differences from what is set to literals without machine code', () => {
  const least = 'sub.s32 %r4, %r2, %r3;\nmin.u32 %r5, %r4, %r6;'
  const found = (statements: string) => hasDifferencesFromLiterals(kernelOf(statements))
  expect(found(`mov.u32 %r2, -2;\n@%p1 bra $L__1;\nmov.u32 %r2, %r8;\n$L__1:\n${least}`)).toBe(true)
  expect(found(`selp.b32 %r2, -2, %r8, %p1;\n${least}`)).toBe(true)
  expect(found(`popc.b32 %r2, %r8;\n${least}`)).toBe(false)
  expect(found(`selp.b32 %r3, -2, %r8, %p1;\n${least}`)).toBe(false)
  expect(found(`mov.u32 %r2, 32;\n${least}`)).toBe(false)
})
