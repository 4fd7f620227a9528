import { afterAll, describe, expect, it } from 'vitest'
import { runPublicFunctions } from '../testing/public-functions.ts'
import { sourceFamilies } from '../testing/source-families.ts'
import { StepCounter } from '../testing/step-counter.ts'
import { isLong, testCases } from '../testing/test-cases.ts'

const counter = new StepCounter()
afterAll(() => counter.close())

/** Eight times the source may take this many times the steps: linear work takes 8, sorting 12, quadratic work 64. */
const growth = 16

describe('the front end takes steps in proportion to the source', () => {
  it.each(Object.entries(sourceFamilies))('%s', (_, source) => {
    const steps = [64, 512].map((n) => counter.count(() => void runPublicFunctions(source(n), 'walk')))
    expect(steps[1]! / steps[0]!).toBeLessThan(growth)
  })
})

describe('a huge source ends in a result or a WgslError', () => {
  const n = isLong ? 65_536 : 1024
  const families = Object.entries(sourceFamilies)
  it.each(testCases(families.length, families.length).map((i) => families[i]!))('%s', (_, source) => {
    runPublicFunctions(source(n), 'walk')
  })
})

describe('a length of 2^29', () => {
  it('takes no memory in a zero value', () => {
    const source = '@compute @workgroup_size(1) fn main() { let x = array<i32, 536870911>()[3]; }'
    expect(runPublicFunctions(source).accepted).toBe(true)
  })
})
