import { expect, it } from 'vitest'
import { hasSignedExtremesOfThree } from './extremes.ts'
import { cubinOf, signedOfThree, unsignedOfThree } from './testing/cubin.ts'

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
