import { expect, it } from 'vitest'
import { extremesOfSums, hasSignedExtremesOfThree } from './extremes.ts'
import { cubinOf, extremeOfRegisters, extremeOfSum, signedOfThree, unsignedOfThree } from './testing/cubin.ts'

it('finds signed extremes of three in executable sections', () => {
  const found = (image: Uint8Array, architecture = 'sm_90') => hasSignedExtremesOfThree(image, architecture)
  expect(found(cubinOf(signedOfThree))).toBe(true)
  expect(found(cubinOf(signedOfThree), 'sm_103a')).toBe(true)
  expect(found(cubinOf(signedOfThree), 'sm_89')).toBe(false)
  expect(found(cubinOf(unsignedOfThree))).toBe(false)
  expect(found(cubinOf([signedOfThree[0] + 1n, signedOfThree[1]]))).toBe(false)
  const placed = new Uint8Array([1, 2, 3, ...cubinOf(signedOfThree)]).subarray(3)
  expect(found(placed)).toBe(true)
  expect(found(new TextEncoder().encode('FAKE 1-1 2'))).toBe(false)
})

it('finds the literals in extremes of sums', () => {
  const found = (image: Uint8Array, architecture = 'sm_90') => [...extremesOfSums(image, architecture)]
  expect(found(cubinOf(extremeOfSum))).toEqual([[2, 1]])
  expect(found(cubinOf(extremeOfSum), 'sm_103a')).toEqual([[2, 1]])
  expect(found(cubinOf(extremeOfSum), 'sm_89')).toEqual([])
  expect(found(cubinOf(extremeOfRegisters))).toEqual([])
  expect(found(cubinOf(signedOfThree))).toEqual([])
})
