import type { FrontEndCache } from '@tandem-gpu/core/backend'
import { lower, parseWgsl, WgslError } from '@tandem-gpu/wgsl'
import { expect, it } from 'vitest'
import { ShaderSource } from './shader-source.ts'

/** A cache in memory; `results` contains everything stored in it. */
function memoryCache(): FrontEndCache & { readonly results: Map<string, unknown> } {
  const results = new Map<string, unknown>()
  return {
    results,
    get: (key) => structuredClone(results.get(JSON.stringify(key))),
    set: (key, result) => results.set(JSON.stringify(key), structuredClone(result)),
  }
}

const kernel = (name: string, body = '') => `@compute @workgroup_size(64) fn ${name}() { ${body} }`
const bound = '@group(1) @binding(2) var<storage, read_write> x: array<f32, 5>;'
/** A warning: subgroup operations in divergent control flow that a filter allows. */
const warned = `enable subgroups; diagnostic(warning, subgroup_uniformity);
  ${bound}
  @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
    if (i > 3) { x[0] = subgroupAdd(x[1]); }
  }`
const valid = [
  kernel('main'),
  `${bound} ${kernel('main', 'x[0] = 1;')}`,
  `${bound} ${kernel('one', 'x[0] = 1;')} ${kernel('two')}`,
  warned,
  'fn unused() {}',
  `override size = 3; override scale: f32; var<workgroup> w: array<f32, size>;
    ${bound} ${kernel('main', 'w[0] = 2; x[0] = w[0] * scale;')}`,
]
const requests: readonly [string | undefined, Record<string, number>][] = [
  ['main', {}],
  [undefined, {}],
  ['two', {}],
  ['absent', {}],
  ['', {}],
  ['main', { scale: 0 }],
  ['main', { scale: -0, size: 9 }],
  ['main', { size: 9, scale: -0 }],
  ['main', { scale: Number.NaN }],
  ['main', { absent: 1 }],
]

/** Everything that pipelines can find out about a source. */
function described(source: ShaderSource): unknown {
  const { messages, problem, extensions } = source
  const kernels = requests.map(([entryPoint, constants]) => {
    try {
      const { reflection, lowered } = source.kernel(entryPoint, constants)
      return [reflection, lowered().entryPoint.name, lowered().workgroupSize]
    } catch (error) {
      if (!(error instanceof WgslError)) throw error
      return error.message
    }
  })
  return { messages, problem, extensions, kernels }
}

it.each(valid)('returns the same as the front end for a known module: %s', (code) => {
  const expected = described(new ShaderSource(code, undefined))
  const cache = memoryCache()
  expect(described(new ShaderSource(code, cache))).toEqual(expected)
  const count = cache.results.size
  expect(count).toBeGreaterThan(0)
  expect(described(new ShaderSource(code, cache))).toEqual(expected)
  expect(cache.results.size).toBe(count)
})

it('reports the warnings that the cache must keep', () => {
  expect(new ShaderSource(warned, undefined).messages).toMatchObject([{ type: 'warning', lineNum: 4 }])
})

it('finds the positions of many warnings in one pass through the code', () => {
  const line = '  if (i > 3) { x[0] = subgroupAdd(x[1]); }\n'
  const code = warned.replace(/^ +if.*\n/m, line.repeat(20_000))
  const begun = performance.now()
  lower(parseWgsl(code))
  const checked = performance.now()
  const { messages } = new ShaderSource(code, undefined)
  expect(performance.now() - checked).toBeLessThan(2 * (checked - begun) + 500)
  expect(messages).toHaveLength(20_000)
  const { offset, lineNum } = messages.at(-1)!
  expect(lineNum).toBe(20_003)
  expect(code.slice(offset)).toMatch(/^subgroupAdd/)
})

it('queries the cache before the front end, which runs if a backend reads the module', () => {
  const code = `${bound} ${kernel('main', 'x[0] = 1;')}`
  const cache = memoryCache()
  new ShaderSource(code, cache)
  const [[key, kept]] = cache.results as unknown as [[string, { checked: { reflection: object } }]]
  // The front end would never return this.
  cache.results.set(key, { ...kept, checked: { ...kept.checked, reflection: { entryPoint: 'kept' } } })
  const { reflection, lowered } = new ShaderSource(code, cache).kernel('main', {})
  expect(reflection).toEqual({ entryPoint: 'kept' })
  expect(lowered().entryPoint.name).toBe('main')
})

it('stores nothing for an invalid module or pipeline', () => {
  const cache = memoryCache()
  const invalid = new ShaderSource('fn f() { return 1; }', cache)
  expect(invalid.problem).toMatch(/shader:1:/)
  expect(cache.results.size).toBe(0)
  const source = new ShaderSource(kernel('main'), cache)
  const { size } = cache.results
  expect(() => source.kernel('absent', {})).toThrow(WgslError)
  expect(cache.results.size).toBe(size)
})
