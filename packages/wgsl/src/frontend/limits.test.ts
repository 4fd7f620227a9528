import { describe, expect, it } from 'vitest'
import { lower, parseWgsl, reflect, WgslError } from '../index.ts'
import { openDawnOracle } from '../testing/dawn-oracle.ts'
import {
  maximumArrayLength,
  maximumExpressionDepth,
  maximumMembers,
  maximumNesting,
  maximumOverrides,
  maximumParameters,
  maximumPrivateByteLength,
  maximumStatementNesting,
  maximumSwitchClauses,
  maximumTypeNesting,
  maximumValueByteLength,
} from './limits.ts'

const dawn = await openDawnOracle()
const repeat = (n: number, part: (i: number) => string, separator = ' ') =>
  Array.from({ length: n }, (_, i) => part(i)).join(separator)
const main = (body: string) => `@compute @workgroup_size(1) fn main() { ${body} }`
const module = (declarations: string) => `${declarations} ${main('')}`

/**
 * The limited construct, the largest allowed `n`, and a source with `n` of the construct. The body of `main`
 * is one level of nesting.
 */
const limits: readonly (readonly [what: string, largest: number, source: (n: number) => string])[] = [
  ['parentheses', maximumNesting - 1, (n) => main(`let x = ${'('.repeat(n)}1${')'.repeat(n)};`)],
  [
    'parentheses around a target',
    maximumNesting - 1,
    (n) => main(`var x = 1; ${'('.repeat(n)}x${')'.repeat(n)} = 1;`),
  ],
  ['unary operators', maximumNesting - 1, (n) => main(`let x = ${'~'.repeat(n)}1;`)],
  ['calls', maximumNesting - 1, (n) => main(`let x = ${'min(1, '.repeat(n)}1${')'.repeat(n)};`)],
  [
    'indices',
    maximumNesting - 1,
    (n) => main(`var a = array(1u, 2u); let x = ${'a['.repeat(n)}0${']'.repeat(n)};`),
  ],
  [
    'template lists',
    maximumNesting,
    (n) => `var<private> a: ${'array<'.repeat(n)}u32${', 1>'.repeat(n)}; ${main('')}`,
  ],
  ['blocks', maximumNesting - 1, (n) => main(`${'{'.repeat(n)}${'}'.repeat(n)}`)],
  [
    'parentheses in blocks',
    26,
    (n) => main(`${'{'.repeat(100)} let x = ${'('.repeat(n)}1${')'.repeat(n)}; ${'}'.repeat(100)}`),
  ],
  ['conditions', 63, (n) => main(`${'if true { '.repeat(n)}${'}'.repeat(n)}`)],
  ['else blocks', 63, (n) => main(`${'if true { } else {'.repeat(n)}${'}'.repeat(n)}`)],
  ['else ifs', maximumStatementNesting - 2, (n) => main(`${repeat(n, () => 'if true { }', ' else ')}`)],
  ['while loops', 62, (n) => main(`${'while true { '.repeat(n)}${'break; }'.repeat(n)}`)],
  ['for loops', 62, (n) => main(`${'for (;;) { '.repeat(n)}${'break; }'.repeat(n)}`)],
  ['loops', 62, (n) => main(`${'loop { '.repeat(n)}${'break; }'.repeat(n)}`)],
  [
    'continuing blocks',
    41,
    (n) => main(`${'loop { continuing { '.repeat(n)}${'break if true; } }'.repeat(n)}`),
  ],
  ['switches', 42, (n) => main(`${'switch 1 { default { '.repeat(n)}${'} }'.repeat(n)}`)],
  ['operators in a row', maximumExpressionDepth, (n) => main(`let x = 1${' + 1'.repeat(n)};`)],
  ['swizzles in a row', maximumExpressionDepth - 1, (n) => main(`let x = vec4f()${'.xyzw'.repeat(n)};`)],
  [
    'structures in one another',
    maximumTypeNesting - 1,
    (n) => module(`struct S0 { a: u32 } ${repeat(n, (i) => `struct S${i + 1} { a: S${i} }`)}`),
  ],
  [
    'arrays in one another',
    maximumTypeNesting,
    (n) => module(`alias A0 = u32; ${repeat(n, (i) => `alias A${i + 1} = array<A${i}, 1>;`)}`),
  ],
  [
    'arrays of vectors',
    maximumTypeNesting - 1,
    (n) => module(`alias A0 = vec4u; ${repeat(n, (i) => `alias A${i + 1} = array<A${i}, 1>;`)}`),
  ],
  [
    'arrays of matrices',
    maximumTypeNesting - 2,
    (n) => module(`alias A0 = mat4x4f; ${repeat(n, (i) => `alias A${i + 1} = array<A${i}, 1>;`)}`),
  ],
  ['parameters', maximumParameters, (n) => module(`fn f(${repeat(n, (i) => `p${i}: u32`, ', ')}) { }`)],
  ['members', maximumMembers, (n) => module(`struct S { ${repeat(n, (i) => `m${i}: u32`, ', ')} }`)],
  [
    'clauses of a switch',
    maximumSwitchClauses,
    (n) => main(`switch 1i { ${repeat(n - 1, (i) => `case ${i} { }`)} default { } }`),
  ],
  ['overrides', maximumOverrides, (n) => module(repeat(n, (i) => `override o${i} = 1;`))],
  [
    'elements of a local array',
    maximumArrayLength,
    (n) => module(`fn unreached() { var a: array<u32, ${n}>; }`),
  ],
  ['elements of a private array', maximumArrayLength, (n) => module(`var<private> a: array<u32, ${n}>;`)],
  ['elements of a workgroup array', maximumArrayLength, (n) => module(`var<workgroup> a: array<u32, ${n}>;`)],
  [
    'elements of a uniform array',
    maximumArrayLength,
    (n) => module(`@group(0) @binding(0) var<uniform> a: array<vec4u, ${n}>;`),
  ],
  [
    'elements of an array in a structure',
    maximumArrayLength,
    (n) => module(`struct S { a: array<u32, ${n}> } var<private> s: S;`),
  ],
  ['elements of a constant', maximumArrayLength, (n) => module(`const a = array<u32, ${n}>();`)],
  [
    'elements that are given',
    maximumArrayLength,
    (n) => module(`const a = array(${repeat(n, () => '1', ',')});`),
  ],
  ['elements of a parameter', maximumArrayLength, (n) => module(`fn f(a: array<u32, ${n}>) { }`)],
  [
    'elements of a result',
    maximumArrayLength,
    (n) => module(`fn f() -> array<u32, ${n}> { return array<u32, ${n}>(); }`),
  ],
  [
    'elements behind a pointer',
    maximumArrayLength,
    (n) => module(`fn f(a: ptr<private, array<u32, ${n}>>) { }`),
  ],
  [
    'elements of a storage array',
    2 ** 30 - 1,
    (n) => module(`@group(0) @binding(0) var<storage> a: array<u32, ${n}>;`),
  ],
  [
    'bytes of a structure',
    2 ** 31 - 8,
    (n) => module(`struct S { @size(2147483640) a: u32, @size(${n}) b: u32, c: vec2u }`),
  ],
  [
    'bytes of a structure with a runtime-sized array',
    2 ** 31 - 16,
    (n) => module(`struct S { @size(2147483632) a: vec4u, @size(${n}) b: vec4u, c: array<vec3u> }`),
  ],
]

const words = maximumValueByteLength / 4

/** The same for the bytes of values, which Dawn checks when it makes a pipeline. */
const values: typeof limits = [
  ['words of a variable', words, (n) => main(`var a: array<u32, ${n}>;`)],
  ['words of a private variable', words, (n) => `var<private> a: array<u32, ${n}>; ${main('a[0] = 1;')}`],
  [
    'words of all private variables',
    maximumPrivateByteLength / 4,
    (n) =>
      `alias A = array<array<u32, ${words / 2}>, 2>; ${repeat(127, (i) => `var<private> a${i}: A;`)}
      var<private> b: array<u32, ${words - 99}>; var<private> c: array<u32, ${n - 128 * words + 99}>;
      ${main(`b[0] = 1; c[0] = 1; ${repeat(127, (i) => `a${i}[0][0] = 1;`)}`)}`,
  ],
  [
    'words of a result',
    words,
    (n) => `fn f() -> array<u32, ${n}> { return array<u32, ${n}>(); } ${main('_ = f();')}`,
  ],
  [
    'words that are loaded',
    words,
    (n) => `@group(0) @binding(0) var<storage> a: array<u32, ${n}>; ${main('let b = a;')}`,
  ],
  [
    'words that are loaded uniformly',
    words,
    (n) => `var<workgroup> a: array<u32, ${n}>; ${main('_ = workgroupUniformLoad(&a);')}`,
  ],
]

describe('limits', () => {
  it.each([...limits, ...values])('allow %s up to %i', (_, largest, source) => {
    const compile = (n: number) => lower(parseWgsl(source(n)))
    expect(() => compile(largest)).not.toThrow()
    expect(() => compile(largest + 1)).toThrow(WgslError)
  })

  it('do not apply to what a phony assignment refers to, because no value is made of it', () => {
    const length = words + 4
    const declared = (name: string) => `var<workgroup> ${name}: array<array<u32, ${length}>, 2>;`
    const source = `${declared('a')} ${declared('b')} ${main('let i = 1; _ = a; let p = &b; _ = (*p)[i];')}`
    expect(reflect(lower(parseWgsl(source))).workgroupMemoryByteLength).toBe(4 * 4 * length)
    const loaded = `${declared('a')} ${main('_ = workgroupUniformLoad(&a);')}`
    expect(() => lower(parseWgsl(loaded))).toThrow(/above the limit of 65536/)
  })

  it('allow long and short functions for some of the parts of variables that pointers point to', () => {
    const long = (n: number) =>
      `${repeat(n, (i) => `var<private> v${i}: u32;`)} fn f(p: ptr<private, u32>) { ${'/**/'.repeat(100_000)} }
      ${main(repeat(n, (i) => `f(&v${i});`))}`
    expect(() => lower(parseWgsl(long(41)))).not.toThrow()
    expect(() => lower(parseWgsl(long(42)))).toThrow(/more than 16777216 characters/)
    const short = (n: number) =>
      `struct S { ${repeat(182, (i) => `m${i}: u32`, ', ')} } fn f(p: ptr<private, u32>) { }
      ${repeat(n, (i) => `var<private> v${i}: S;`)}
      ${main(repeat(n, (i) => repeat(182, (member) => `f(&v${i}.m${member});`)))}`
    expect(() => lower(parseWgsl(short(172)))).toThrow(/more than 16777216 characters/)
  })

  it('keep constants that are built anew in many blocks from filling the memory', () => {
    const blocks = (n: number) =>
      `const a = array(${repeat(words / 2, (i) => `${i}u`, ',')});
      ${main(`var i = 0; ${repeat(n, () => '{ const b = array(a, a); _ = b[i][i]; }')}`)}`
    expect(() => lower(parseWgsl(blocks(8)))).not.toThrow()
    expect(() => lower(parseWgsl(blocks(257)))).toThrow(/more than 4194304 numbers/)
  })

  it('allow any functions that change the order of pointers if nothing calls them', () => {
    const pointers = (at: number) => repeat(8, (i) => `p${(i * 3 + at) % 8}`, ', ')
    const parameters = repeat(8, (i) => `p${i}: ptr<private, u32>`, ', ')
    const calls = (of: string) => repeat(8, (at) => `${of}(${pointers(at)});`)
    const functions = repeat(
      8,
      (i) => `fn f${i + 1}(${parameters}) { ${calls(`f${i}`)} ${calls(`g${i}`)} }
      fn g${i + 1}(${parameters}) { f${i}(p1, p0, p2, p3, p4, p5, p6, p7); }`,
    )
    const first = repeat(2, (i) => `fn ${'fg'[i]}0(${parameters}) { *p0 = 1; }`)
    expect(() => lower(parseWgsl(module(`${first} ${functions}`)))).not.toThrow()
  })

  it.skipIf(dawn === undefined)('are those of Dawn (needs npm webgpu)', async () => {
    const different: string[] = []
    for (const [what, largest, source] of limits) {
      const [refused] = await dawn!(source(largest))
      if (refused !== undefined) different.push(`${what}: Dawn refuses ${largest}: ${refused}`)
      if ((await dawn!(source(largest + 1))).length === 0)
        different.push(`${what}: Dawn accepts ${largest + 1}`)
    }
    for (const [what, largest, source] of values)
      expect(await dawn!(source(largest + 1), 'main'), what).toEqual([
        expect.stringMatching(/exceeds (maximum|8388608)/),
      ])
    expect(different).toEqual([])
  })
})

it('functions that pass on a pointer with a long path are refused before they use much memory', () => {
  const source = `var<private> v: ${'array<'.repeat(120)}u32${', 1>'.repeat(120)}; fn f0(p: ptr<private, u32>) { }
    ${repeat(2000, (i) => `fn f${i + 1}(p: ptr<private, u32>) { f${i}(p); }`)} ${main(`f2000(&v${'[0]'.repeat(120)});`)}`
  expect(() => lower(parseWgsl(source))).toThrow(/specialised for their pointer arguments/)
})
