import { describe, expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import type { Expression } from '../ir.ts'
import { walk } from '../walk.ts'
import { analyse } from './analyses.ts'
import { applyOperator, interval } from './interval.ts'

/** The range of the index of `probe[...] = …`. */
function rangeOf(statements: string, index: string, declarations = ''): [number, number] {
  const module = lower(
    parseWgsl(`@group(0) @binding(0) var<storage, read_write> probe: array<u32>;
    @group(0) @binding(1) var<uniform> n: u32;
    @group(0) @binding(2) var<uniform> signed: i32;
    ${declarations}
    @compute @workgroup_size(16, 4) fn main(
      @builtin(local_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32,
      @builtin(workgroup_id) group: vec3u, @builtin(global_invocation_id) global: vec3u,
    ) { ${statements.replace('PROBE', `probe[${index}] = 1u;`)} }`),
  )
  const { ranges } = analyse(module)
  let found: Expression | undefined
  walk(module, {
    place(place) {
      if (
        place.kind === 'index-place' &&
        place.base.kind === 'variable' &&
        place.base.variable.name === 'probe'
      )
        found ??= place.index
    },
  })
  const range = ranges.interval(found!)!
  return [range.low, range.high]
}

const all = [0, 4294967295]

describe('the range of an integer', () => {
  it('comes from built-in values and arithmetic', () => {
    expect(rangeOf('PROBE', 'i')).toEqual([0, 63])
    expect(rangeOf('PROBE', 'id.y * 16u + id.x + 1u')).toEqual([1, 64])
    expect(rangeOf('PROBE', 'id.z')).toEqual([0, 0])
    expect(rangeOf('let p = id.yx; PROBE', 'p.x')).toEqual([0, 3])
    expect(rangeOf('PROBE', '(n & 7u) | 8u')).toEqual([8, 15])
    expect(rangeOf('PROBE', 'n % 10u + min(n, 5u)')).toEqual([0, 14])
    expect(rangeOf('PROBE', '(i ^ 5u) >> 2u')).toEqual([0, 15])
    expect(rangeOf('PROBE', 'i << 2u')).toEqual([0, 252])
    expect(rangeOf('PROBE', 'signed & 7')).toEqual([0, 7])
    expect(rangeOf('var v = vec2u(1u, 2u); v = vec2u(3u, 4u); let w = v; PROBE', 'w.y')).toEqual([2, 4])
    expect(rangeOf('PROBE', 'select(3u, i, n > 2u)')).toEqual([0, 63])
    expect(rangeOf('PROBE', 'clamp(signed, -4, 9) + 4')).toEqual([0, 13])
    expect(rangeOf('PROBE', 'u32(clamp(signed, 0, 9))')).toEqual([0, 4294967295])
  })
  it('is everything if it could wrap around', () => {
    expect(rangeOf('PROBE', 'i - 1u')).toEqual(all)
    expect(rangeOf('PROBE', 'n + 1u')).toEqual(all)
    expect(rangeOf('PROBE', 'global.x * global.x')).toEqual(all)
    expect(rangeOf('PROBE', 'u32(i32(i) - 1)')).toEqual(all)
    expect(rangeOf('PROBE', '1u << (n & 31u)')).toEqual([1, 2147483648])
  })
  it('comes from loops', () => {
    expect(rangeOf('for (var k = 4u; k < 12u; k++) { PROBE }', 'k')).toEqual([4, 11])
    expect(rangeOf('for (var k = 0u; k < 32u; k += 8u) { PROBE }', 'k + i')).toEqual([0, 87])
    expect(rangeOf('for (var k = 7; k >= 0; k--) { PROBE }', 'k')).toEqual([0, 7])
    expect(rangeOf('for (var k = 64u; k > 0u; k >>= 1u) { PROBE }', 'k')[1]).toBe(64)
    expect(rangeOf('for (var k = 1u; k < n; k++) { PROBE }', 'k')).toEqual([1, 4294967294])
    expect(rangeOf('var b = 0u; for (var k = 0u; k < n; k++) { PROBE b = 1u - b; }', 'b')).toEqual([0, 1])
    expect(rangeOf('var k = 0u; while (k < 9u) { PROBE k += 2u; }', 'k')[1]).toBeGreaterThanOrEqual(8)
  })
  it('comes from conditions, as long as the variable stays', () => {
    expect(rangeOf('if (n < 10u) { PROBE }', 'n')).toEqual([0, 9])
    expect(rangeOf('if (n > 3u && n <= 6u) { PROBE }', 'n')).toEqual([4, 6])
    expect(rangeOf('if (!(n < 10u)) { } else { PROBE }', 'n')).toEqual([0, 9])
    expect(rangeOf('var v = n; if (v < 10u) { v = n; PROBE }', 'v')).toEqual(all)
    expect(rangeOf('if (n < 10u || i < 3u) { PROBE }', 'n')).toEqual(all)
    expect(rangeOf('var v = n; let old = v; v += 10u; if (v < 8u) { PROBE }', 'old')).toEqual(all)
    expect(rangeOf('if (n >= 10u) { return; } PROBE', 'n')).toEqual(all)
  })
  it('passes through functions', () => {
    expect(rangeOf('PROBE', 'twice(i)', 'fn twice(x: u32) -> u32 { let y = x + x; return y; }')).toEqual([
      0, 126,
    ])
    expect(
      rangeOf(
        'PROBE',
        'pick(i, 70u)',
        'fn pick(a: u32, b: u32) -> u32 { if (a > 3u) { return a; } return b; }',
      ),
    ).toEqual([4, 70])
    // The same inside blocks. The result of a function with variables or loops can be any value.
    const inBlocks =
      'fn pick(a: u32, b: u32) -> u32 { { if (a > 3u) { { return a; } } else { return b; } } return b; }'
    expect(rangeOf('PROBE', 'pick(i, 70u)', inBlocks)).toEqual([4, 70])
    for (const body of [
      'var y = 0u; for (var k = 0u; k < x; k++) { y += 3u; } return y;',
      'for (var k = 0u; k < x; k++) { if (k == n) { return k; } } return 9u;',
      'if (x > 70u) { var y = x; y += 5u; return y; } return x;',
      'if (x > 70u) { return x; } else { var y = x; y += 5u; return y; }',
      '{ var y = x; y += 5u; return y; }',
      'let y = x; while (y > n) { return 1u; } return y;',
    ])
      expect(rangeOf('PROBE', 'work(i)', `fn work(x: u32) -> u32 { ${body} }`), body).toEqual(all)
    expect(
      rangeOf(
        'bump(&v); PROBE'.replace('bump', 'var v = 1u; bump'),
        'v',
        'fn bump(p: ptr<function, u32>) { *p += 1u; }',
      ),
    ).toEqual(all)
  })
})

describe('operators on intervals', () => {
  it('contain every result', () => {
    const values = [-9, -8, -3, -1, 0, 1, 2, 5, 7, 8]
    const results: Record<string, (a: number, b: number) => number> = {
      '+': (a, b) => a + b,
      '-': (a, b) => a - b,
      '*': (a, b) => a * b,
      '/': (a, b) => (b === 0 ? a : Math.trunc(a / b)),
      '%': (a, b) => (b === 0 ? 0 : a % b),
      '&': (a, b) => a & b,
      '|': (a, b) => a | b,
      '^': (a, b) => a ^ b,
    }
    for (const [operator, exact] of Object.entries(results))
      for (const aLow of values)
        for (const aHigh of values.filter((v) => v >= aLow))
          for (const bLow of values)
            for (const bHigh of values.filter((v) => v >= bLow)) {
              const range = applyOperator(
                operator as '+',
                interval(aLow, aHigh),
                interval(bLow, bHigh),
                'i32',
              )!
              for (const a of [aLow, aHigh])
                for (const b of [bLow, bHigh]) {
                  const r = exact(a, b)
                  if (r < range.low || r > range.high)
                    expect.fail(`${a} ${operator} ${b} = ${r} is outside [${range.low}, ${range.high}]`)
                }
            }
  })
})
