import { describe, expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import type { Expression } from '../ir.ts'
import { walk } from '../walk.ts'
import { analyse } from './analyses.ts'
import { applyOperator, type Interval, interval, whole } from './interval.ts'

/** The range of the index of `probe[...] = …`. */
function rangeOf(statements: string, index: string, declarations = '', size = '16, 4'): [number, number] {
  const module = lower(
    parseWgsl(`enable subgroups; requires buffer_view;
    @group(0) @binding(0) var<storage, read_write> probe: array<u32>;
    @group(0) @binding(1) var<uniform> n: u32;
    @group(0) @binding(2) var<uniform> signed: i32;
    ${declarations}
    @compute @workgroup_size(${size}) fn main(
      @builtin(local_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32,
      @builtin(workgroup_id) group: vec3u, @builtin(global_invocation_id) global: vec3u,
      @builtin(num_workgroups) groups: vec3u, @builtin(subgroup_id) subgroup: u32,
      @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_size) lanes: u32,
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
  // No test distinguishes -0 from 0.
  return [range.low + 0, range.high + 0]
}

/** Whether all indices of `fixed` are known to be in bounds; checks that their intervals agree. */
function insideOf(statements: string): boolean {
  const module = lower(
    parseWgsl(`@group(0) @binding(0) var<uniform> n: u32;
    var<workgroup> fixed: array<u32, 4>;
    @compute @workgroup_size(1) fn main() { ${statements} }`),
  )
  const { ranges } = analyse(module)
  const found: boolean[] = []
  walk(module, {
    place(place) {
      if (place.kind !== 'index-place') return
      found.push(ranges.isInside(place))
      expect(ranges.interval(place.index)!.high < 4).toBe(ranges.isInside(place))
    },
  })
  return found.every((inside) => inside)
}

const all = [0, 4294967295]

describe('the range of an integer', () => {
  it('comes from built-in values and arithmetic', () => {
    expect(rangeOf('PROBE', 'i')).toEqual([0, 63])
    expect(rangeOf('PROBE', 'id.y * 16u + id.x + 1u')).toEqual([1, 64])
    expect(rangeOf('PROBE', 'id.z')).toEqual([0, 0])
    expect(rangeOf('let p = id.yx; PROBE', 'p.x')).toEqual([0, 3])
    expect(rangeOf('let v = vec2u(1u, 2u); PROBE', 'v[n & 1u]')).toEqual([1, 2])
    expect(rangeOf('PROBE', 'vec2u(countOneBits(n), 3u).y')).toEqual([3, 3])
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
  it('of a built-in value follows from its definition and the workgroup size', () => {
    const of = (value: string, size?: string) => rangeOf('PROBE', value, '', size)
    expect(of('id.x')).toEqual([0, 15])
    expect(of('id.y')).toEqual([0, 3])
    expect(of('i', '4, 3, 2')).toEqual([0, 23])
    expect(of('global.y')).toEqual([0, 4 * 65535 - 1])
    expect(of('group.x')).toEqual([0, 65534])
    expect(of('groups.z')).toEqual([1, 65535])
    expect(of('lane')).toEqual([0, 31])
    expect(of('lane', '7')).toEqual([0, 6])
    expect(of('subgroup')).toEqual([0, 1])
    expect(of('subgroup', '65')).toEqual([0, 2])
    expect(of('lanes')).toEqual(all)
    expect(of('countOneBits(n)')).toEqual(all)
  })
  it('of a variable contains every value assigned to it or to a component, in any order', () => {
    expect(rangeOf('var b: u32; for (var k = 0u; k < n; k++) { PROBE b = 3u; }', 'b')).toEqual([0, 3])
    const beside = 'var f = 1.0; var b = 0u; for (var k = 0u; k < n; k++) { f = 2.0; PROBE b = 1u - b; }'
    expect(rangeOf(beside, 'b + u32(f) * 0u')).toEqual([0, 1])
    expect(rangeOf('var v = vec2u(1u, 2u); v.x = 9u; PROBE', 'v.y')).toEqual(all)
    expect(rangeOf('var v = vec2u(1u, 2u); v.x = 9u; let w = v; PROBE', 'w.y')).toEqual([2, 9])
    expect(rangeOf('var v = vec2u(1u, 2u); v.x = n; let w = v; PROBE', 'w.y')).toEqual(all)
    expect(rangeOf('var v = vec2u(1u, 2u); v += 3u; let w = v; PROBE', 'w.y')[1]).toBeGreaterThanOrEqual(5)
  })
  it('of a variable at module scope is that of its type, whatever the function assigns', () => {
    for (const space of ['private', 'workgroup'])
      expect(rangeOf('if n == 3u { s = 5u; } PROBE', 's', `var<${space}> s: u32;`)).toEqual(all)
  })
  it.each([
    'fixed[bump(&v)] = 1u;',
    'fixed[bump(&v)] += 1u;',
    'fixed[0] = bump(&v);',
    'fixed[0] += bump(&v);',
    'pairs[bump(&v)].a = 1u;',
    'pairs[0].v[bump(&v)] = 1u;',
    'let x = fixed[bump(&v)];',
    'let x = pairs[bump(&v)].v.y;',
    'let x = pair(&v).a;',
    'let x = pair(&v).v.yx;',
    'let x = pair(&v).v[n & 1u];',
    'let x = vec2u(1u, 2u)[bump(&v)];',
    'let x = vec2u(n, bump(&v));',
    'let x = vec2u(bump(&v));',
    'let x = ~bump(&v);',
    'let x = f32(bump(&v));',
    'let x = bitcast<f32>(bump(&v));',
    'let x = bump(&v) + n;',
    'let x = n + bump(&v);',
    'let x = bump(&v) > 3u && n > 2u;',
    'let x = n > 2u || bump(&v) > 3u;',
    'let x = min(n, bump(&v));',
    'let x = twice(bump(&v));',
    '_ = bump(&v);',
    '_ = atomicLoad(&counts[bump(&v)]);',
    'bufferView<array<u32>>(&bytes, bump(&v))[0] = 1u;',
    'bufferArrayView<array<u32>>(&bytes, 0u, bump(&v))[0] = 1u;',
    'if bump(&v) > 3u { }',
    'switch bump(&v) { default: { } }',
    'for (var k = bump(&v); k < 9u; k++) { }',
    'for (var k = 0u; k < bump(&v); k++) { }',
    'for (var k = 0u; k < 9u; k += bump(&v)) { }',
    'while bump(&v) < n { }',
    'loop { continuing { _ = bump(&v); break if n > 2u; } }',
    'loop { continuing { break if bump(&v) > 3u; } }',
  ])('of a variable that a call may change is that of its type: %s', (statement) => {
    const declarations = `struct Pair { a: u32, v: vec2u }
      @group(0) @binding(3) var<storage, read_write> bytes: buffer;
      var<workgroup> fixed: array<u32, 4>; var<workgroup> pairs: array<Pair, 4>;
      var<workgroup> counts: array<atomic<u32>, 4>;
      fn bump(p: ptr<function, u32>) -> u32 { *p += 1u; return *p; }
      fn pair(p: ptr<function, u32>) -> Pair { *p += 1u; return Pair(); }
      fn twice(x: u32) -> u32 { return 2u * x; }`
    expect(rangeOf(`var v = 1u; ${statement} PROBE`, 'v', declarations)).toEqual(all)
  })
  it('of a variable that grows is widened only at the end that grows', () => {
    const grown = (next: string) =>
      rangeOf(`var b = 5; for (var k = 0u; k < n; k++) { PROBE b = ${next}; }`, 'u32(b)')
    const signedRange = (next: string) =>
      rangeOf(`var b = 5; for (var k = 0u; k < n; k++) { PROBE b = ${next}; }`, 'b')
    expect(grown('b')).toEqual(all)
    expect(signedRange('clamp(b + 1, 5, 1000)')).toEqual([5, 2147483647])
    expect(signedRange('clamp(b - 1, -1000, 5)')).toEqual([-2147483648, 5])
    expect(signedRange('select(5, clamp(b + 1, 5, 1000), n > 3u)')).toEqual([5, 2147483647])
    expect(signedRange('select(5, clamp(b - 1, -1000, 5), n > 3u)')).toEqual([-2147483648, 5])
  })
  it('of a variable is that of its type if a value passes through more variables than are followed', () => {
    const names = Array.from({ length: 20 }, (_, i) => `v${i}`)
    const declared = names.map((name) => `var ${name} = 0u;`).join(' ')
    const passed = names.slice(1).map((name, i) => `${name} = v${i};`)
    const body = `${declared} for (var k = 0u; k < n; k++) { PROBE ${passed.reverse().join(' ')} v0 = n; }`
    expect(rangeOf(body, 'v19')).toEqual(all)
    expect(rangeOf(body, 'v0')).toEqual(all)
  })
  it('is that of the type if the value could wrap around', () => {
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
  it('comes from conditions, as long as the variable does not change', () => {
    expect(rangeOf('if (n < 10u) { PROBE }', 'n')).toEqual([0, 9])
    expect(rangeOf('if (n > 3u && n <= 6u) { PROBE }', 'n')).toEqual([4, 6])
    expect(rangeOf('if (!(n < 10u)) { } else { PROBE }', 'n')).toEqual([0, 9])
    expect(rangeOf('var v = n; if (v < 10u) { v = n; PROBE }', 'v')).toEqual(all)
    expect(rangeOf('if (n < 10u || i < 3u) { PROBE }', 'n')).toEqual(all)
    expect(rangeOf('var v = n; let old = v; v += 10u; if (v < 8u) { PROBE }', 'old')).toEqual(all)
    expect(rangeOf('if (n >= 10u) { return; } PROBE', 'n')).toEqual(all)
    expect(rangeOf('if (n < 1u) { PROBE }', 'n')).toEqual([0, 0])
    expect(rangeOf('if (n == 9u) { PROBE }', 'n')).toEqual(all)
    expect(rangeOf('if (n != 9u) { } else { PROBE }', 'n')).toEqual(all)
    expect(rangeOf('if (f32(n) < 9.0) { PROBE }', 'n')).toEqual(all)
    expect(rangeOf('if (n < 9u) { if (n > 20u) { PROBE } }', 'n')).toEqual(all)
    expect(rangeOf('if (n < 9u) { if (n < 5u) { } PROBE }', 'n')).toEqual([0, 8])
    expect(rangeOf('for (var k = 0u; k < 9u && n < 4u; k++) { PROBE }', 'n')).toEqual([0, 3])
  })
  it('of two sums is the same if only the order of their terms differs', () => {
    expect(rangeOf('if (n + i < 9u) { PROBE }', 'i + n')).toEqual([0, 8])
    expect(rangeOf('if (n + n < 9u) { PROBE }', 'n * 2u')).toEqual([0, 8])
    const lets = 'let p = id.xy; let q = id.xz;'
    expect(rangeOf(`${lets} if (p.y < 2u) { PROBE }`, 'p.y', '', '4, 4, 4')).toEqual([0, 1])
    expect(rangeOf(`${lets} if (p.y < 2u) { PROBE }`, 'q.y', '', '4, 4, 4')).toEqual([0, 3])
  })
  it('does not come from a value of another type with the same bits, or from memory that other code changes', () => {
    expect(rangeOf('if (i32(n) < 9) { PROBE }', 'n')).toEqual(all)
    const float = 'var f = f32(n); if (u32(f) < 9u) { PROBE }'
    expect(rangeOf(float, 'bitcast<u32>(f)')).toEqual(all)
    const changed = 'var<private> s: u32; fn other() { s = 99u; }'
    expect(rangeOf('if (s < 9u) { other(); PROBE }', 's', changed)).toEqual(all)
  })
  it('of an index that several accesses share holds for each of them', () => {
    // All uses of a pointer share its place.
    const shared = (uses: string) => insideOf(`let k = n; let p = &fixed[k]; ${uses}`)
    expect(shared('if k < 4u { *p = 1u; }')).toBe(true)
    expect(shared('*p = 2u; if k < 4u { *p = 1u; }')).toBe(false)
    expect(shared('if k < 4u { *p = 1u; } *p = 2u;')).toBe(false)
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
      'if (x > 70u) { return x; } else { var y = 3u; return y; }',
      '{ var y = x; y += 5u; return y; }',
      'let y = x; while (y > n) { return 1u; } return y;',
    ])
      expect(rangeOf('PROBE', 'work(i)', `fn work(x: u32) -> u32 { ${body} }`), body).toEqual(all)
    // The arguments of one call do not affect the result of another.
    const twice = 'fn twice(x: u32) -> u32 { let y = x + x; return y; }'
    expect(rangeOf('let other = twice(n); PROBE', 'twice(i)', twice)).toEqual([0, 126])
    expect(rangeOf('let other = twice(n); PROBE', 'twice(min(twice(i), 9u))', twice)).toEqual([0, 18])
    // The parameter has the values of all calls.
    const stores = 'fn stores(x: u32) { probe[x] = 1u; }'
    expect(rangeOf('stores(3u); stores(i); ', 'x', stores)).toEqual([0, 63])
    const loads = 'fn loads(x: u32) -> u32 { return probe[x]; }'
    expect(rangeOf('_ = loads(3u) + loads(i + 5u);', 'x', loads)).toEqual([3, 68])
    // One call computes more than is followed.
    const sums = (terms: number) => `fn sums(x: u32) -> u32 { return ${'x + '.repeat(terms)}x; }`
    expect(rangeOf('PROBE', 'sums(1u)', sums(70))).toEqual(all)
    const nested = 'fn nested(x: u32) -> u32 { return sums(x) + sums(x); }'
    expect(rangeOf('PROBE', 'nested(1u)', sums(5) + nested)).toEqual([12, 12])
    expect(rangeOf('PROBE', 'nested(1u)', sums(20) + nested)).toEqual(all)
    const manyLets = `fn lets(x: u32) -> u32 { ${Array.from({ length: 70 }, (_, i) => `let y${i} = x;`).join(' ')} return x; }`
    expect(rangeOf('PROBE', 'lets(1u)', manyLets)).toEqual(all)
    const deep = Array.from({ length: 12 }, (_, i) => `fn d${i + 1}(x: u32) -> u32 { return d${i}(x); }`)
    const chain = (depth: number) =>
      rangeOf('PROBE', `d${depth}(i)`, `fn d0(x: u32) -> u32 { return x; } ${deep.join(' ')}`)
    expect(chain(7)).toEqual([0, 63])
    expect(chain(8)).toEqual(all)
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
  const operators: Record<string, (a: number, b: number) => number | undefined> = {
    '+': (a, b) => a + b,
    '-': (a, b) => a - b,
    '*': (a, b) => a * b,
    '/': (a, b) => (b === 0 ? a : Math.trunc(a / b)),
    '%': (a, b) => (b === 0 ? 0 : a % b),
    '&': (a, b) => a & b,
    '|': (a, b) => a | b,
    '^': (a, b) => a ^ b,
    // Larger shifts are errors, or their amount is masked first.
    '<<': (a, b) => (b < 0 || b > 31 ? undefined : a * 2 ** b),
    '>>': (a, b) => (b < 0 || b > 31 ? undefined : Math.floor(a / 2 ** b)),
  }
  const pairs = (from: number, to: number) => {
    const found: Interval[] = []
    for (let low = from; low <= to; low++) for (let high = low; high <= to; high++) found.push({ low, high })
    return found
  }
  const valuesOf = ({ low, high }: Interval) => Array.from({ length: high - low + 1 }, (_, i) => low + i)
  /** The results for all values of two intervals. */
  const resultsOf = (operator: string, a: Interval, b: Interval) =>
    valuesOf(a).flatMap((x) => valuesOf(b).flatMap((y) => operators[operator]!(x, y) ?? []))

  it.each(Object.keys(operators))('%s contains every result', (operator) => {
    const wrong: string[] = []
    for (const a of pairs(-9, 8))
      for (const b of pairs(-4, 8)) {
        const range = applyOperator(operator as '+', a, b, whole('i32')!)
        for (const r of resultsOf(operator, a, b))
          if (r < range.low || r > range.high)
            wrong.push(`[${a.low}, ${a.high}] ${operator} [${b.low}, ${b.high}] may be ${r}`)
      }
    expect(wrong).toEqual([])
  })

  // The interval is the smallest possible if no operand is negative. The bitwise operators are not exact.
  it.each(['+', '-', '*', '/', '<<', '>>'])(
    '%s contains nothing else if no operand is negative',
    (operator) => {
      const wrong: string[] = []
      for (const a of pairs(0, 9))
        for (const b of pairs(operator === '/' ? 1 : 0, 5)) {
          const { low, high } = applyOperator(operator as '+', a, b, whole('i32')!)
          const results = resultsOf(operator, a, b)
          if (low !== Math.min(...results) || high !== Math.max(...results))
            wrong.push(`[${a.low}, ${a.high}] ${operator} [${b.low}, ${b.high}] is called [${low}, ${high}]`)
        }
      expect(wrong).toEqual([])
    },
  )

  it.each<[string, [number, number], [number, number], [number, number] | undefined]>([
    ['/', [-7, 9], [2, 3], [-3, 4]],
    ['/', [-7, 9], [1, 3], [-7, 9]],
    ['/', [0, 9], [0, 3], [0, 9]],
    ['/', [-1, 9], [0, 3], undefined],
    ['/', [0, 9], [-1, 3], undefined],
    ['%', [2, 5], [6, 9], [2, 5]],
    ['%', [2, 6], [6, 9], [0, 6]],
    ['%', [0, 40], [6, 9], [0, 8]],
    ['%', [0, 40], [0, 1], [0, 0]],
    ['%', [0, 40], [0, 0], undefined],
    ['%', [-1, 40], [-1, 9], undefined],
    ['%', [-40, -2], [6, 9], [-8, 0]],
    ['%', [-3, 0], [6, 9], [-3, 0]],
    ['%', [-3, 2], [6, 9], [-3, 2]],
    ['&', [-5, 9], [0, 6], [0, 6]],
    ['&', [0, 9], [-5, 12], [0, 9]],
    ['&', [-5, 9], [-1, 6], undefined],
    ['|', [4, 5], [0, 2], [4, 7]],
    ['|', [0, 0], [0, 0], [0, 0]],
    ['|', [0, 8], [0, 2], [0, 15]],
    ['|', [-1, 8], [0, 2], undefined],
    ['|', [0, 8], [-1, 2], undefined],
    ['^', [0, 7], [0, 2], [0, 7]],
    ['^', [-1, 7], [0, 2], undefined],
    ['^', [0, 7], [-1, 2], undefined],
    ['<<', [1, 3], [2, 4], [4, 48]],
    ['<<', [1, 3], [0, 32], undefined],
    ['<<', [-1, 3], [0, 2], undefined],
    ['<<', [0, 3], [0, 30], undefined],
    ['>>', [64, 128], [1, 3], [8, 64]],
    ['>>', [64, 128], [31, 31], [0, 0]],
    ['>>', [64, 128], [1, 40], [0, 128]],
    ['>>', [-1, 128], [1, 3], undefined],
  ])('%s of %j and %j is %j', (operator, a, b, expected) => {
    const all = whole('i32')!
    const range = applyOperator(operator as '+', interval(...a), interval(...b), all)
    const [low, high] = expected ?? [all.low, all.high]
    expect([range.low + 0, range.high + 0]).toEqual([low, high])
  })
})
