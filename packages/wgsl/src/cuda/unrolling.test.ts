import { describe, expect, it } from 'vitest'
import { analyse } from '../analysis/analyses.ts'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { emitCuda } from './emit-cuda.ts'
import type { CudaBounds } from './kernel.ts'
import { findUnrolledLoops } from './unrolling.ts'

const plain = (count: number) => 'x += 1u; '.repeat(count)

/** The number of completely unrolled loops in an entry point with these statements. */
function unrolled(statements: string): number {
  const module = lower(
    parseWgsl(`@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1) fn main() { var x = out[0]; ${statements} out[1] = x; }`),
  )
  const { counters } = analyse(module)
  return [...findUnrolledLoops(module, counters).values()].filter((trips) => trips === Infinity).length
}

describe('of a loop with an unknown number of iterations', () => {
  /** How nvcc is to unroll a loop with this head in an entry point with these parameters. */
  const unrolling = (head: string, body = 'out[0] += 1u;', functions = '') =>
    emitCuda(
      lower(
        parseWgsl(`struct Given { n: u32, m: i32, few: u32 }
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> given: Given;
${functions}
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) li: u32) {
  let n = given.n; let m = given.m; let few = given.few & 1023u;
  ${head} { ${body} }
}`),
      ),
      { bounds: 'clamp' },
    ).parts.body.match(/_Pragma\("(.*?)"\)/g)

  it.each([
    'for (var k = 0u; k < n; k++)',
    'for (var k = li; k < n; k++)',
    'for (var k = n; k > 5u; k--)',
    'for (var k = li; k < 4096u; k += 64u)',
    'for (var k = few; k + 2u <= few + 64u; k += 3u)',
    'for (var k = m; k < 5i; k++)',
    'for (var k = 1u; k < few; k *= 2u)',
  ])('four become one if it ends by itself: %s', (head) => {
    expect(unrolling(head)).toEqual(['_Pragma("unroll 4")'])
  })

  it.each([
    // The counter may wrap around.
    'for (var k = 0u; k < n; k += 2u)',
    'for (var k = 0u; k <= n; k++)',
    'for (var k = n; k <= n + 7u; k++)',
    // Other forms.
    'for (var k = 0u; k != n; k++)',
    'for (var k = 0u; k < n; k += few)',
    'for (var k = 0u; k < n; k <<= 1u)',
    'while (out[1] < n)',
    'loop { if (out[2] == n) { break; } out[3] += 1u; }',
  ])('it stays as it is if it may not: %s', (head) => {
    expect(unrolling(head)).toEqual(['_Pragma("unroll 1")'])
  })

  it('and it has at most 16 statements, with those of calls', () => {
    const head = 'for (var k = 0u; k < n; k++)'
    const of = (more: number) => unrolling(head, `var x = k; ${plain(more)} out[x] = x;`)
    expect([of(13), of(14)]).toEqual([['_Pragma("unroll 4")'], ['_Pragma("unroll 1")']])
    const functions = `fn f(k: u32) -> u32 { var x = k; ${plain(4)} return x; }`
    const calls = (more: number) =>
      unrolling(head, `out[f(k)] = f(n); ${plain(more).replaceAll('x', 'out[1]')}`, functions)
    expect([calls(0), calls(1)]).toEqual([['_Pragma("unroll 4")'], ['_Pragma("unroll 1")']])
  })

  it('and no loops, not even in a function that it calls', () => {
    const head = 'for (var k = 0u; k < n; k++)'
    const inner = 'while (out[2] < n) { out[2]++; }'
    expect(unrolling(head, inner)).toEqual(['_Pragma("unroll 1")', '_Pragma("unroll 1")'])
    for (const called of [inner, 'loop { out[2]++; if (out[2] > n) { break; } }'])
      expect(unrolling(head, 'f(n);', `fn f(n: u32) { ${called} }`)).toEqual([
        '_Pragma("unroll 1")',
        '_Pragma("unroll 1")',
      ])
  })
})

describe('a loop is unrolled', () => {
  it('but not where each access is checked by a branch', () => {
    const module = lower(
      parseWgsl(`@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1) fn main() { for (var i = 0u; i < 8u; i++) { out[i] += 1u; } }`),
    )
    const pragma = (bounds: 'clamp' | 'trap') =>
      emitCuda(module, { bounds }).parts.body.match(/_Pragma\(.*?\)/)![0]
    expect([pragma('clamp'), pragma('trap')]).toEqual(['_Pragma("unroll")', '_Pragma("unroll 1")'])
  })

  it('of up to 32 iterations if the number is known', () => {
    const turns = (bound: string) => unrolled(`for (var i = 0u; i < ${bound}; i++) { x += i; }`)
    expect(['0u', '1u', '32u', '33u', 'x'].map(turns)).toEqual([1, 1, 1, 0, 0])
  })

  // 128 statements, including the step of the counter, 16 times: 2,048.
  it.each([
    ['plain ones', plain(127), 0],
    ['a block', `{ ${plain(127)} }`, 0],
    ['both branches of if', `if x > 3u { ${plain(60)} } else { ${plain(66)} }`, 0],
    ['if without else', `if x > 3u { ${plain(126)} }`, 0],
    ['all clauses of switch', `switch x { case 1u: { ${plain(50)} } default: { ${plain(76)} } }`, 0],
    ['both parts of loop', `loop { ${plain(50)} continuing { ${plain(76)} break if x > 9u; } }`, 0],
    ['while', `while x < 3u { ${plain(126)} }`, 0],
    ['for of an unknown number of iterations', `for (var k = x; k < 9u; k++) { ${plain(125)} }`, 0],
    ['for, expanded', `for (var k = 0u; k < 3u; k++) { ${plain(41)} } ${plain(1)}`, 1],
  ])('of up to 2,048 statements: those of %s count', (_, body, inner) => {
    const loop = (more: number) => unrolled(`for (var i = 0u; i < 16u; i++) { ${body} ${plain(more)} }`)
    expect([loop(0), loop(1)]).toEqual([inner + 1, inner])
  })

  it('of a kernel of up to 6,000 statements', () => {
    // 1,000 statements each, and two more.
    const loops = (count: number, more: number) =>
      unrolled(`for (var i = 0u; i < 20u; i++) { ${plain(49)} } `.repeat(count) + plain(more))
    expect([loops(5, 998), loops(5, 999), loops(6, 0)]).toEqual([5, 0, 0])
  })
})

it('a function is called, with its loops unrolled, where nvcc would take minutes for its copies', () => {
  // 600 statements unrolled, in a function that is called n times.
  const functions = (calls: number) =>
    emitCuda(
      lower(
        parseWgsl(`fn f() -> u32 { var x = 0u; for (var i = 0u; i < 30u; i++) { ${plain(19)} } return x; }
        fn short(x: u32) -> u32 { return x + 1u; }
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main() { ${'out[0] += short(f()); '.repeat(calls)} }`),
      ),
      { bounds: 'clamp' },
    ).parts.body.match(/^.*(_Pragma\("unroll"\)|(f|short)_\(.*\) \{$)/gm)
  const inlined = [
    'WGSL_FN unsigned f_() {',
    '  _Pragma("unroll")',
    'WGSL_FN unsigned short_(const unsigned x_1) {',
  ]
  expect(functions(8)).toEqual(inlined)
  expect(functions(12)).toEqual([
    'static __device__ __attribute__((noinline)) unsigned f_() {',
    ...inlined.slice(1),
  ])
})

it('ptxas must not optimize a kernel with functions that are called', () => {
  const kernel = (calls: number, bounds: CudaBounds = 'clamp') =>
    emitCuda(
      lower(
        parseWgsl(`fn f() -> u32 { var x = 0u; ${plain(60)} return x; }
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main() { ${'out[0] += f(); '.repeat(calls)} }`),
      ),
      { bounds },
    )
  const [inlined, called, reporting] = [kernel(20), kernel(40), kernel(1, 'trap')]
  expect(inlined.source).not.toContain('noinline')
  expect(inlined.ptxasLevel).toBe(3)
  expect(called.source).toContain('noinline')
  expect(called.ptxasLevel).toBe(0)
  expect(reporting.ptxasLevel).toBe(0)
  expect([inlined, called, reporting].map(({ source }) => source.split('\n')[0])).toEqual([
    '// wgsl: translated from WGSL, bounds: clamp',
    '// wgsl: translated from WGSL, bounds: clamp; ptxas must not optimize it (-O0)',
    '// wgsl: translated from WGSL, bounds: trap; ptxas must not optimize it (-O0)',
  ])
})

it('a function with a long expression is called, and a loop with one is not unrolled', () => {
  const sum = Array.from({ length: 50 }, (_, i) => `acosh(x + ${i}.5)`).join(' + ')
  const text = (statements: string) =>
    emitCuda(
      lower(
        parseWgsl(`fn f(x: f32) -> f32 { return ${sum}; }
        @group(0) @binding(0) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(1) fn main() { ${statements} }`),
      ),
      { bounds: 'clamp' },
    ).parts.body
  const call = 'out[0] = f(out[1]); '
  expect(text(call.repeat(10))).toContain('WGSL_FN float f_')
  expect(text(call.repeat(20))).toContain('__attribute__((noinline)) float f_')
  const loop = (trips: number) => `let x = out[0]; for (var i = 0; i < ${trips}; i++) { out[i] += ${sum}; }`
  expect(text(loop(12))).toContain('_Pragma("unroll")')
  expect(text(loop(32))).not.toContain('_Pragma("unroll")')
  // Of vectors and matrices each component counts.
  const matrices = (calls: number) =>
    `var m = mat4x4f(); ${`m = ${'m * '.repeat(20)} m; `.repeat(calls)} out[0] = m[1].x;`
  const vectors = (trips: number) =>
    `var v = vec4f(); for (var i = 0; i < ${trips}; i++) { v = ${'acosh(v) + '.repeat(12)} v; } out[0] = v.x;`
  expect(text(`${call.repeat(2)} ${matrices(8)}`)).toContain('WGSL_FN float f_')
  expect(text(`${call.repeat(2)} ${matrices(20)}`)).toContain('__attribute__((noinline)) float f_')
  expect(text(vectors(16))).toContain('_Pragma("unroll")')
  expect(text(vectors(32))).not.toContain('_Pragma("unroll")')
  // A table is not copied.
  const table = `const t = array(${Array.from({ length: 1000 }, (_, i) => `${i}u`)});
    let u = t; var s = 0u; for (var i = 0u; i < 32u; i++) { s += t[i * 9u + s] + u[i * 9u + s]; } out[0] = f32(s);`
  expect(text(table)).toContain('_Pragma("unroll")')
})
