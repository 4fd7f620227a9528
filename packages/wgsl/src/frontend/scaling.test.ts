import { afterAll, describe, expect, it } from 'vitest'
import { emitCuda } from '../cuda/emit-cuda.ts'
import { runPublicFunctions } from '../testing/public-functions.ts'
import { sourceFamilies } from '../testing/source-families.ts'
import { StepCounter } from '../testing/step-counter.ts'
import { isLong, testCases } from '../testing/test-cases.ts'
import { WgslError } from '../wgsl-error.ts'
import { lower, parseWgsl } from './lower.ts'

const counter = new StepCounter()
afterAll(() => counter.close())

const families = Object.entries(sourceFamilies)

/** Eight times the source may take this many times the steps: linear work takes 8, quadratic work 64. */
const mostGrowth = 10

/** Lowers the first entry point of a source; undefined when the source is rejected. */
function lowered(source: string) {
  try {
    const module = parseWgsl(source)
    return lower(module, { entryPoint: module.entryPoints[0]!.name })
  } catch (error) {
    if (error instanceof WgslError) return undefined
    throw error
  }
}

/** Two sizes of a family, the second eight times the first, both below the limits of the language; undefined where all are rejected. */
function acceptedSizes(source: (n: number) => string): readonly [number, number] | undefined {
  const largest = [512, 256, 120, 56].find((n) => lowered(source(n)) !== undefined)
  return largest === undefined ? undefined : [largest / 8, largest]
}

function growthOf(sizes: readonly [number, number], prepare: (n: number) => () => void): number {
  const [small, large] = sizes.map((n) => counter.count(prepare(n)))
  return large! / small!
}

describe('eight times the source takes less than ten times the steps', () => {
  it.each(families)('to parse and to lower: %s', (_, source) => {
    const steps = (pair: readonly [number, number]) => {
      expect(growthOf(pair, (n) => parsed(source(n)))).toBeLessThan(mostGrowth)
      expect(growthOf(pair, (n) => () => void lowered(source(n)))).toBeLessThan(mostGrowth)
    }
    steps([64, 512])
    // Where 512 are too many to be accepted, also what is accepted.
    const accepted = acceptedSizes(source)
    if (accepted !== undefined && accepted[1] < 512) steps(accepted)
  })

  const emitted = families.flatMap(([name, source]) => {
    const sizes = acceptedSizes(source)
    // The emitter takes longer for each line.
    const [, largest] = sizes ?? [0, 0]
    const most = Math.min(largest, 256)
    return sizes === undefined ? [] : [{ name, source, sizes: [most / 8, most] as const }]
  })
  it.each(emitted)('to emit: $name', ({ source, sizes }) => {
    const growth = growthOf(sizes, (n) => {
      const module = lowered(source(n))!
      return () => void emitCuda(module, { bounds: 'clamp' })
    })
    expect(growth).toBeLessThan(mostGrowth)
  })
  it('of which most families are accepted', () => {
    expect(families.length).toBeGreaterThanOrEqual(60)
    expect(emitted.length).toBeGreaterThanOrEqual(50)
  })
})

function parsed(source: string): () => void {
  return () => {
    try {
      parseWgsl(source)
    } catch (error) {
      if (!(error instanceof WgslError)) throw error
    }
  }
}

describe('a huge source ends in a result or a WgslError', () => {
  const n = isLong ? 65_536 : 1024
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
