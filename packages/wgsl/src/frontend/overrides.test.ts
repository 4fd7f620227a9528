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
  it.each(complete)('has its value: %s with %o', (declarations, constants, k) => {
    const { overrides } = lower(parseWgsl(sourceOf(declarations)), { constants })
    expect(overrides.find(({ name }) => name === 'k')?.value).toBe(k)
  })
  it.each(infinite)('takes no infinite value, nor NaN: %s with %o', (declarations, constants) => {
    expect(() => lower(parseWgsl(sourceOf(declarations)), { constants })).toThrow(
      /the value given to the override 'k': the value (NaN|Infinity) is not finite/,
    )
  })
  it.skipIf(dawn === undefined)('is judged as by Dawn (needs npm webgpu)', async () => {
    for (const [declarations, constants] of [...lacking, ...infinite])
      expect(await dawn!(sourceOf(declarations), 'main', constants), declarations).not.toEqual([])
    for (const [declarations, constants] of complete)
      expect(await dawn!(sourceOf(declarations), 'main', constants), declarations).toEqual([])
  })
})
