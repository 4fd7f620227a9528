import { describe, expect, it } from 'vitest'
import { openDawnOracle } from '../testing/dawn-oracle.ts'
import { lower, parseWgsl } from './lower.ts'

const dawn = await openDawnOracle()

type Case = readonly [declarations: string, constants: Readonly<Record<string, number>>]

/** `main` uses the override `k`. */
const sourceOf = (declarations: string) => `${declarations} @compute @workgroup_size(1) fn main() { _ = k; }`

const lacking: readonly Case[] = [
  ['override k: u32;', {}],
  ['override n: u32; override k = n;', {}],
  // A mentioned override needs a value, even if it is not evaluated.
  ['override n: bool; override k = false && n;', {}],
  ['override n: bool; override m = true || n; override k = m;', {}],
  ['override n: bool; override m = false && n; override k = true || m;', {}],
  ['override n: u32; override k = n;', { k: 3 }],
  ['override n: bool; override k = false && n;', { k: 1 }],
  ['override n: u32; override m = n; override k = m;', { m: 3 }],
]
const complete: readonly (readonly [...Case, k: number | boolean])[] = [
  ['override k: u32;', { k: 1 }, 1],
  ['override n: u32; override k = n;', { n: 3 }, 3],
  ['override n: u32; override k = n;', { k: 3, n: 4 }, 3],
  ['override n: bool; override k = false && n;', { n: 1 }, false],
  ['override n: u32; override k = 5;', {}, 5],
  ['override n: u32; override m = n; override k = 5;', {}, 5],
]
/** An override whose default has no value, for a reason that is an error in a pipeline. */
const failing: readonly (readonly [...Case, message: RegExp])[] = [
  ['override n: i32; override k = array(1, 2, 3)[n];', { n: 3 }, /the index 3 is outside array<i32, 3>/],
  ['override n: i32; override k = vec3(1, 2, 3)[n];', { n: -1 }, /the index -1 is outside vec3i/],
  ['override n: u32; override k = extractBits(5u, n, 30u);', { n: 5 }, /offset \+ count is 35/],
  ['override n: u32; override k = insertBits(5u, 1u, 3u, n);', { n: 30 }, /offset \+ count is 33/],
  ['override n: i32; override k = clamp(5, n, 2);', { n: 3 }, /the low bound 3 is above/],
  ['override n: i32; override k = ldexp(0f, n);', { n: 129 }, /the exponent 129 is above 128/],
  ['override n: i32; override m = array(1, 2)[n]; override k = m + 1;', { n: 2 }, /the index 2 is outside/],
  ['override n: u32; override m = 1u / n; override k = m;', { n: 0 }, /1 \/ 0 has no value/],
  // The default is evaluated even if the pipeline sets a value in its place.
  ['override n: u32; override k = 1u / n;', { n: 0, k: 1 }, /1 \/ 0 has no value/],
  ['override n: i32; override m = array(1, 2)[n]; override k = m;', { n: 2, m: 1 }, /the index 2 is outside/],
]
/** Defaults next to the errors above, with their values. */
const near: readonly (readonly [...Case, k: number | boolean])[] = [
  ['override n: i32; override k = array(1, 2, 3)[n];', { n: 2 }, 3],
  ['override n: u32; override k = extractBits(5u, n, 30u);', { n: 2 }, 1],
  ['override n: i32; override k = clamp(5, n, 2);', { n: 1 }, 2],
  ['override n: i32; override k = ldexp(0f, n);', { n: 128 }, 0],
  ['override n: i32; override m = array(1, 2)[n]; override k = 5;', { n: 2 }, 5],
  ['override n: bool; override k = n && array(1, 2)[u32(!n) * 2] == 1;', { n: 0 }, false],
  ['override n: bool; override k = n && extractBits(1u, u32(!n) * 40, 1u) == 1;', { n: 0 }, false],
  ['enable f16; override n: f16; override k = n + 6e-8h;', { n: 65504 }, 65504],
]
const infinite: readonly Case[] = ['bool', 'i32', 'u32', 'f32'].flatMap((type) =>
  [Number.NaN, Number.POSITIVE_INFINITY].map((k): Case => [`override k: ${type};`, { k }]),
)

describe('an override that the entry point uses', () => {
  it.each(lacking)('lacks a value: %s with %o', (declarations, constants) => {
    const module = parseWgsl(sourceOf(declarations))
    expect(() => lower(module, { constants })).toThrow(
      /the override '\w' has no default and no value was given/,
    )
  })
  it.each(failing)('has a default without a value: %s with %o', (declarations, constants, message) => {
    expect(() => lower(parseWgsl(sourceOf(declarations)), { constants })).toThrow(message)
  })
  it.each([...complete, ...near])('has its value: %s with %o', (declarations, constants, k) => {
    const { overrides } = lower(parseWgsl(sourceOf(declarations)), { constants })
    expect(overrides.find(({ name }) => name === 'k')?.value).toBe(k)
  })
  it.each(infinite)('rejects infinite values and NaN: %s with %o', (declarations, constants) => {
    expect(() => lower(parseWgsl(sourceOf(declarations)), { constants })).toThrow(
      /the value given to the override 'k': the value (NaN|Infinity) is not finite/,
    )
  })
  it.skipIf(dawn === undefined)('gets the same verdict from Dawn (needs npm webgpu)', async () => {
    for (const [declarations, constants] of [...lacking, ...failing, ...infinite])
      expect(await dawn!(sourceOf(declarations), 'main', constants), declarations).not.toEqual([])
    for (const [declarations, constants] of [...complete, ...near])
      expect(await dawn!(sourceOf(declarations), 'main', constants), declarations).toEqual([])
  })
})
