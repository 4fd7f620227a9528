import { expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { expectedForms, formsOf, seedsOfAllForms } from './forms.ts'
import { randomKernel } from './random-kernel.ts'
import { randomSubgroups } from './random-types.ts'

/** The forms that kernels of these seeds lack; stops when none is missing. */
function removeForms(missing: Set<string>, seeds: readonly number[]): void {
  for (const seed of seeds) {
    if (missing.size === 0) return
    for (const form of formsOf(lower(parseWgsl(randomKernel(seed))))) missing.delete(form)
  }
}

it('random kernels together have every form of the IR, and every pair of forms', () => {
  const missing = new Set(expectedForms())
  // These seeds are enough, unless the generator has changed since they were chosen.
  removeForms(missing, seedsOfAllForms)
  const seeds = Array.from({ length: 3000 }, (_, seed) => seed)
  removeForms(missing, seeds.slice(0, 600))
  // Most pairs contain subgroup operations, which one kernel in four has.
  removeForms(
    missing,
    seeds.slice(600).filter((seed) => randomSubgroups(seed) === 'of-32'),
  )
  expect([...missing]).toEqual([])
})
