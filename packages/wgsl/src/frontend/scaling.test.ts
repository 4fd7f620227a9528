import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, describe, expect, it } from 'vitest'
import { emitCuda } from '../cuda/emit-cuda.ts'
import type { VariablePlace } from '../ir.ts'
import { runPublicFunctions } from '../testing/public-functions.ts'
import { sourceFamilies } from '../testing/source-families.ts'
import { StepCounter } from '../testing/step-counter.ts'
import { isLong, testCases } from '../testing/test-cases.ts'
import { bufferType, u32Type } from '../types.ts'
import { WgslError } from '../wgsl-error.ts'
import { lower, parseWgsl, type WgslModule } from './lower.ts'
import { makeStruct } from './numeric-types.ts'
import { pathOf } from './pointer-binding.ts'

const counter = new StepCounter()
afterAll(() => counter.close())

/**
 * A source that is eight times as long may take at most this many times the steps. Linear work takes 8 times,
 * quadratic work 64 times.
 */
const mostGrowth = 10

/** The result of `work`; undefined if it rejects the source. */
function unlessRejected<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof WgslError) return undefined
    throw error
  }
}

/** Lowers the first entry point. */
function lowerFirst(module: WgslModule | undefined) {
  return module && unlessRejected(() => lower(module, { entryPoint: module.entryPoints[0]!.name }))
}

const lowered = (text: string) => lowerFirst(unlessRejected(() => parseWgsl(text)))

type Repeat = (part: (i: number) => string) => string

/** Sizes of a family of sources, the second eight times the first. */
type Sizes = readonly [small: number, large: number]

/** Sizes below the limits of the language; undefined if all sizes are rejected. */
function acceptedSizes(source: (n: number) => string): Sizes | undefined {
  const largest = [512, 256, 120, 56].find((n) => lowered(source(n)) !== undefined)
  return largest === undefined ? undefined : [largest / 8, largest]
}

const families = Object.entries(sourceFamilies).map(([name, source]) => ({
  name,
  source,
  accepted: acceptedSizes(source),
}))

describe('eight times the source takes less than ten times the steps', () => {
  it.each(families)('to parse and to lower: $name', ({ source, accepted }) => {
    const compare = (sizes: Sizes) => {
      const runs = sizes.flatMap((n) => {
        const text = source(n)
        let module: WgslModule | undefined
        return [
          () => {
            module = unlessRejected(() => parseWgsl(text))
          },
          () => void lowerFirst(module),
        ]
      })
      const [parseSmall, lowerSmall, parseLarge, lowerLarge] = counter.count(...runs)
      expect(parseLarge! / parseSmall!).toBeLessThan(mostGrowth)
      expect((parseLarge! + lowerLarge!) / (parseSmall! + lowerSmall!)).toBeLessThan(mostGrowth)
    }
    compare([64, 512])
    // If size 512 is rejected, also compare the sizes that are accepted.
    if (accepted !== undefined && accepted[1] < 512) compare(accepted)
  })

  // Not a family, since to lower all entry points takes quadratic time.
  it('to lower one of many entry points that call a long function', () => {
    const runs = [64, 512].map((n) => {
      const repeat = (part: (i: number) => string) => Array.from({ length: n }, (_, i) => part(i)).join('')
      const module = parseWgsl(
        `var<workgroup> w: u32; fn f() { ${repeat((i) => `w = ${i}u;`)} } ${repeat((i) => `@compute @workgroup_size(1) fn main${i}() { f(); }`)}`,
      )
      return () => void lowerFirst(module)
    })
    const [small, large] = counter.count(...runs)
    expect(large! / small!).toBeLessThan(mostGrowth)
  })

  // Not a family, since the text has all variables at each call.
  it.each([
    ['many calls of a function', (repeat: Repeat) => repeat(() => 'f();'), () => ''],
    [
      'many functions that call one',
      (repeat: Repeat) => repeat((i) => `g${i}();`),
      (i: number) => `fn g${i}() { f(); }`,
    ],
    [
      'many functions, and one with a pointer, that call one',
      (repeat: Repeat) => repeat((i) => `g${i}(); h(&v${i});`),
      (i: number) => `fn g${i}() { f(); } ${i === 0 ? 'fn h(p: ptr<private, u32>) { _ = *p; }' : ''}`,
    ],
  ])('to lower %s that uses many variables', (_, calls, declared) => {
    const runs = [64, 512].map((n) => {
      const repeat: Repeat = (part) => Array.from({ length: n }, (_, i) => part(i)).join('')
      const module = parseWgsl(
        `${repeat((i) => `var<private> v${i}: u32;`)} fn f() { ${repeat((i) => `v${i} = 1u;`)} } ${repeat(declared)}
        @compute @workgroup_size(1) fn main() { ${calls(repeat)} }`,
      )
      return () => void lowerFirst(module)
    })
    const [small, large] = counter.count(...runs)
    expect(large! / small!).toBeLessThan(mostGrowth)
  })

  it('and another of many entry points takes less than ten steps for each declaration', () => {
    const repeat = (part: (i: number) => string) => Array.from({ length: 512 }, (_, i) => part(i)).join('')
    const module = parseWgsl(repeat((i) => `@compute @workgroup_size(8, 8, 1) fn main${i}() {}`))
    lowerFirst(module)
    const [steps] = counter.count(() => void lower(module, { entryPoint: 'main9' }))
    expect(steps! / 512).toBeLessThan(10)
  })

  it('and each member of a structure takes few steps for each of many entry points that use it', () => {
    const repeat = (n: number, part: (i: number) => string) =>
      Array.from({ length: n }, (_, i) => part(i)).join('')
    const module = parseWgsl(
      `struct S { ${repeat(512, (i) => `@location(${i}) m${i}: f32,`)} } @compute @workgroup_size(1) fn main() {}
      ${repeat(512, (i) => `@fragment fn entry${i}(s: S) {}`)}`,
    )
    const [steps] = counter.count(() => void lower(module))
    expect(steps! / 512 ** 2).toBeLessThan(10)
  })

  it.each([
    ['variables', 10, (repeat: Repeat) => repeat(() => '{ var x = d; }')],
    ['elements of an array', 2, (repeat: Repeat) => `_ = array(${repeat(() => 'd,')});`],
  ])('and each level of a nested type takes few steps for each of many %s', (_, most, uses) => {
    const repeat: Repeat = (part) => Array.from({ length: 512 }, (_, i) => part(i)).join('')
    const nested = (inside: string) => `${'array('.repeat(120)}${inside}${')'.repeat(120)}`
    const module = parseWgsl(
      `const c = ${nested('1')}; const d = ${nested('c')}; fn unused() { ${uses(repeat)} }
      @compute @workgroup_size(1) fn main() {}`,
    )
    const [steps] = counter.count(() => void lower(module))
    expect(steps! / (512 * 240)).toBeLessThan(most)
  })

  const emitted = families.flatMap(({ name, source, accepted }) => {
    if (accepted === undefined) return []
    // The emitter takes longer per line.
    const most = Math.min(accepted[1], 256)
    return [{ name, source, sizes: [most / 8, most] as const }]
  })
  it.each(emitted)('to emit: $name', ({ source, sizes }) => {
    const modules = sizes.map((n) => lowered(source(n))!)
    for (const bounds of ['clamp', 'trap'] as const) {
      const [small, large] = counter.count(
        ...modules.map((module) => () => void emitCuda(module, { bounds })),
      )
      expect(large! / small!, bounds).toBeLessThan(mostGrowth)
    }
  })
  it('and most families are accepted', () => {
    expect(families.length).toBeGreaterThanOrEqual(60)
    expect(emitted.length).toBeGreaterThanOrEqual(50)
  })
})

describe('a huge source ends in a result or a WgslError', () => {
  const n = isLong ? 65_536 : 1024
  it.each(testCases(families.length, families.length).map((i) => families[i]!))('$name', ({ source }) => {
    runPublicFunctions(source(n), 'walk')
  })
})

describe('long names', () => {
  it('of structures are no part of the keys of functions with views of them', () => {
    const loc = { line: 1, column: 1 }
    const type = makeStruct('S'.repeat(10_000), [{ name: 'a', type: u32Type }], false)
    const base = { kind: 'variable', variable: { id: 7 }, type: bufferType(64), loc } as VariablePlace
    const offset = { kind: 'literal', value: 0, type: u32Type, loc } as const
    const place = { kind: 'view-place', base, offset, size: undefined, type, loc } as const
    expect(pathOf(place, (variable) => variable).binding.key).toMatch(/^7:\d+<\d+>\(u32\)$/)
  })
})

describe('sources', () => {
  it.each([
    [
      'overrides',
      (i: number) =>
        `override length_of_array_${i} = 4; var<workgroup> w: array<u32, length_of_array_${i}>;
        @compute @workgroup_size(1) fn main() { w[0] = 1u; }`,
    ],
    [
      'constants',
      (i: number) =>
        `const table_of_zeros_${i} = array<u32, ${i}>();
        @compute @workgroup_size(1) fn main() { let x = table_of_zeros_${i}; }`,
    ],
  ])('are not kept for the names of the %s in them', (_, source) => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const lowerLong = (i: number) => lowered(`/* ${`${i}`.repeat(50_000)} */ ${source(i)}`)
    lowerLong(999)
    collect()
    const before = process.memoryUsage().heapUsed
    for (let i = 1000; i < 1200; i++) lowerLong(i)
    collect()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(2 ** 24)
  })
})

describe('long arrays', () => {
  it('of 2^29 elements use no memory for a zero value', () => {
    const source = '@compute @workgroup_size(1) fn main() { let x = array<i32, 536870911>()[3]; }'
    expect(runPublicFunctions(source).accepted).toBe(true)
  })

  it('of 1,000 different lengths use none either', () => {
    const constants = Array.from({ length: 1000 }, (_, i) => `const c${i} = array<u32, ${65_535 - i}>();`)
    const before = process.memoryUsage().heapUsed
    lowered(`${constants.join(' ')} @compute @workgroup_size(1) fn main() {}`)
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(2 ** 28)
  })
})
