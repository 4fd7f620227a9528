import { describe, expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import type { For, Loop } from '../ir.ts'
import { walk } from '../walk.ts'
import { analyse } from './analyses.ts'

function firstLoop(statements: string, declarations = '') {
  const module = lower(
    parseWgsl(`@group(0) @binding(0) var<storage, read_write> out: array<u32>;
    @group(0) @binding(1) var<uniform> n: u32;
    @group(0) @binding(2) var<uniform> signed: i32;
    ${declarations}
    @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) { ${statements} }`),
  )
  const loops: (For | Loop)[] = []
  walk(module.entryPoint, {
    statement(s) {
      if (s.kind === 'for' || s.kind === 'loop') loops.push(s)
    },
  })
  return { loop: loops[0]!, counters: analyse(module).counters }
}

/**
 * The trip count of a `for` loop as text ('4' for exactly, '≤ 4' for at most, '?' for unknown), and the
 * counter's values.
 */
function counted(head: string, declarations = '', body = 'out[i] += 1u;') {
  const { loop, counters } = firstLoop(`for (${head}) { ${body} }`, declarations)
  const counter = counters.of(loop as For)
  const { trips, values } = counter ?? {}
  const text = trips === undefined ? '?' : trips.isExact ? `${trips.most}` : `≤ ${trips.most}`
  return values === undefined ? text : `${text}, ${values.low} to ${values.high}`
}

describe('the trips of a loop and the values of its counter', () => {
  it('are exact between constants', () => {
    expect(counted('var k = 0u; k < 10u; k++')).toBe('10, 0 to 9')
    expect(counted('var k = 0u; k < 10u; k += 4u')).toBe('3, 0 to 8')
    expect(counted('var k = 3; k <= 11; k += 4')).toBe('3, 3 to 11')
    expect(counted('var k = 5u; k < 5u; k++')).toBe('0')
    expect(counted('var k = max(n, 4294967290u); k < 4294967200u; k += 100u')).toBe('0')
  })
  it('are partly known if an end is one of several values', () => {
    expect(counted('var k = i; k < 256u; k += 64u')).toBe('4, 0 to 255')
    expect(counted('var k = i; k < 250u; k += 64u')).toBe('≤ 4, 0 to 249')
    expect(counted('var k = 0u; k < min(n, 9u); k++')).toBe('≤ 9, 0 to 8')
    expect(counted('var k = 0u; k < n; k++')).toBe('≤ 4294967295, 0 to 4294967294')
  })
  it('come from divisions', () => {
    expect(counted('var k = 64u; k > 0u; k /= 2u')).toBe('7')
    expect(counted('var k = 100u; k > 2u; k /= 10u')).toBe('2')
    expect(counted('var k = 64u; k > i; k /= 2u')).toBe('?')
    expect(counted('var k = i; k > 0u; k /= 2u')).toBe('?')
    for (const operator of ['<', '<=', '>=', '==', '!='])
      expect(counted(`var k = 64u; k ${operator} 4u; k /= 2u`), operator).toBe('?')
    expect(counted('var k = 64u; k > 0u; k /= 1u')).toBe('?')
    expect(counted('var k = 64; k > -1; k /= 2')).toBe('?')
  })
  it('come from multiplications', () => {
    expect(counted('var k = 1u; k < 256u; k *= 2u')).toBe('8')
    expect(counted('var k = 3i; k <= 27i; k *= 3i')).toBe('3')
    expect(counted('var k = i + 1u; k < 256u; k *= 4u')).toBe('≤ 4')
    expect(counted('var k = 1u; k < min(n, 9u); k *= 2u')).toBe('≤ 4')
    expect(counted('var k = 5u; k < 5u; k *= 2u')).toBe('0')
    for (const head of [
      'var k = i; k < 9u; k *= 2u',
      'var k = 1u; k < n; k *= 2u',
      'var k = 1u; k < 9u; k *= 1u',
    ])
      expect(counted(head), head).toBe('?')
    expect(counted('var k = 1i; k < 1073741824i; k *= 2i')).toBe('30')
    expect(counted('var k = 1i; k <= 1073741824i; k *= 2i')).toBe('?')
  })
  it('are unknown if the counter may wrap around', () => {
    expect(counted('var k = 5; k < signed; k += 1073741824')).toBe('?')
    expect(counted('var k = 0u; k < n; k += 2u')).toBe('?')
    expect(counted('var k = 0u; k <= n; k++')).toBe('?')
    expect(counted('var k = 4u; k != 9u; k++')).toBe('?')
    expect(counted('var k = 3u; k >= 0u; k--')).toBe('?')
    expect(counted('var k = 0u; k < 4294967295u; k += 2u')).toBe('?')
    expect(counted('var k = 0u; k < 4294967294u; k += 2u')).toBe('2147483647, 0 to 4294967292')
  })
  it('are unknown of any other form', () => {
    for (const head of [
      'var k = 7; k >= 0; k--',
      'var k = 0u; 10u > k; k += 5u',
      'var k = 64u; k > 0u; k >>= 1u',
    ])
      expect(counted(head)).toBe('?')
    expect(counted('var k = 0u; k < 10u; k += min(n, 1u)')).toBe('?')
    for (const head of [
      'var k = 0u; n < 9u; k++',
      'var k = 0u; k + 1u < 9u; k++',
      'var k = 0u; ; k++',
      'var k = 0u; yes; k++',
      'var k = 0u; k < 9u; ',
      'var k = 0u; k < 9u; state = 3u',
      'var k = 0u; k < 9u; state += 1u',
      'var k = 0u; k < 9u; out[k] += 1u',
      'var k = 0.0; k < 9.0; k += 1.0',
      'var k: u32; k < 9u; k++',
      '; state < 9u; state += 1u',
      'var v = vec2u(); v.x < 9u; v.x += 1u',
    ])
      expect(
        counted(
          head,
          'var<private> state: u32; var<private> yes: bool;',
          'state++; if state > 9u { break; }',
        ),
        head,
      ).toBe('?')
    for (const operator of ['-', '%', '&', '|', '^', '<<', '>>'])
      expect(counted(`var k = 1u; k < 9u; k ${operator}= 2u`), operator).toBe('?')
  })
  it('are unknown if something else changes the counter', () => {
    expect(counted('var k = 0u; k < 9u; k++', '', 'k += n;')).toBe('?')
    const bump = 'fn bump(p: ptr<function, i32>) -> i32 { *p += 1; return 5; }'
    expect(counted('var k = 0; k < (bump(&k) & 0) + 10; k++', bump)).toBe('?')
    expect(counted('var k = 0; k < 10; k++', bump, '_ = bump(&k);')).toBe('?')
  })
})

describe('the exact number of iterations of a loop', () => {
  const exact = (head: string) => {
    const { loop, counters } = firstLoop(`for (${head}) { out[i] += 1u; }`)
    return counters.exactTrips(loop as For)
  }
  it('is known between constants, upwards and downwards', () => {
    expect(exact('var k = 0u; k < 10u; k += 4u')).toBe(3)
    expect(exact('var k = 7; k >= 0; k--')).toBe(8)
    expect(exact('var k = 7; k > 0; k -= 2')).toBe(4)
    expect(exact('var k = 0u; 10u > k; k += 5u')).toBe(2)
    expect(exact('var k = 3; k > 5; k--')).toBe(0)
  })
  it('is unknown if an end is, if the counter wraps around, or if the condition compares a sum', () => {
    for (const head of [
      'var k = signed; k >= 0; k--',
      'var k = 7; k > min(signed, 3); k--',
      'var k = 7u; k >= 0u; k--',
      'var k = 7u; k + 1u > 3u; k--',
    ])
      expect(exact(head), head).toBe(undefined)
  })
})

describe('a loop ends', () => {
  const most = (statements: string, declarations = '') => {
    const { loop, counters } = firstLoop(statements, declarations)
    return counters.mostTrips(loop)
  }
  it('when every step brings it nearer to a bound that the last step cannot pass beyond its type', () => {
    expect(most('for (var k = 0u; k < n; k++) { out[k] = 1u; }')).toBe(4294967295)
    expect(most('for (var k = i; k < 4000000000u; k += 64u) { out[k] = 1u; }')).toBe(62500000)
    expect(most('for (var k = signed; k > 0; k--) { out[k] = 1u; }')).toBe(2147483647)
    expect(most('for (var k = signed; k >= -2147483646; k -= 2) { out[k] = 1u; }')).toBe(2147483647)
  })
  it('when its counter is declared before the loop, or is part of a sum or a multiple', () => {
    expect(most('var k = i; for (; k < n; k++) { out[k] = 1u; }')).toBe(4294967295)
    expect(most('var k = i; let m = min(n, 4096u); for (; k + 16u <= m; k += 8u) { out[k] = 1u; }')).toBe(513)
    expect(most('let m = min(n, 4096u); for (var k = i; k * 4u < m; k += 64u) { out[k] = 1u; }')).toBe(16)
    expect(most('var k = 9u; let end = min(n, 4096u); for (; 0u < end - k; k++) { }')).toBe(4294967295)
  })
  it('when the counter is assigned before the loop, but not in it', () => {
    expect(most('var k = 0u; k = i; for (; k < n; k++) { out[k] = 1u; }')).toBe(4294967295)
    expect(most('var k = n; for (var j = 3u; k > 2u; k--) { out[k] = j; }')).toBe(4294967293)
    expect(most('var k = 0u; for (; k < n; ) { k++; }')).toBe(undefined)
    const shared = 'var<private> k: u32; fn back() { k = 0u; }'
    expect(most('for (k = 0u; k < n; k++) { back(); }', shared)).toBe(undefined)
  })
  it('when its counter is multiplied up to a bound', () => {
    expect(most('for (var s = 1u; s < 256u; s *= 2u) { }')).toBe(8)
    expect(most('for (var s = 1 + min(max(signed, 0), 8); s <= min(signed, 100); s *= 10) { }')).toBe(3)
    expect(most('for (var s = 0u; s < 256u; s *= 2u) { }')).toBe(undefined)
    expect(most('for (var s = 1u; s < n; s *= 2u) { }')).toBe(undefined)
    expect(most('for (var s = 1u; s < 256u; s *= 1u) { }')).toBe(undefined)
    expect(most('for (var s = 1u; s < 256u; s *= 2u) { s = 1u; }')).toBe(undefined)
    expect(most('var r = 1u; for (var s = 1u; s < 256u; r *= 2u) { }')).toBe(undefined)
  })
  it('but is not known to end when the last step may wrap around because the bound is an input', () => {
    expect(most('for (var k = 0u; k < n; k += 16u) { out[k] = 1u; }')).toBe(undefined)
    expect(most('for (var k = 0u; k <= n; k++) { out[k] = 1u; }')).toBe(undefined)
    expect(most('let m = 4294967295u; for (var k = 0u; k <= m; k++) { }')).toBe(undefined)
    expect(most('let m = 4294967295u; for (var k = 0u; k < m; k += 4u) { }')).toBe(undefined)
    expect(most('var k = 0u; for (; k + 16u <= n; k += 16u) { out[k] = 1u; }')).toBe(undefined)
    expect(most('for (var k = i; k < arrayLength(&out); k += 64u) { out[k] = 1u; }')).toBe(undefined)
    expect(most('for (var k = signed; k >= -2147483647; k -= 2) { out[k] = 1u; }')).toBe(undefined)
    expect(most('for (var k = signed; k > -2147483648; k -= 2) { out[k] = 1u; }')).toBe(undefined)
  })
  it('but is not known to end when the update changes something other than a local variable', () => {
    expect(most('var e = array(0u, 0u); for (; n < 10u; e[0] += 1u) { }')).toBe(undefined)
    expect(most('var v = vec2u(); for (; i < 10u; v.x += 1u) { }')).toBe(undefined)
    expect(most('for (; n < 10u; s += 1u) { }', 'var<private> s: u32;')).toBe(undefined)
  })
  it('when its counter is multiplied, but only as in `s < bound; s *= literal`', () => {
    for (const head of [
      'var s = 1u; s < 256u; s *= n',
      'var s = 1u; s > 2u; s *= 2u',
      'var s = 1u; s >= 2u; s *= 2u',
      'var s = 1u; s != 3u; s *= 2u',
      'var s = 1u; s == 1u; s *= 2u',
      'var s = 1u; s + 1u < 256u; s *= 2u',
      'var s = 1u; yes; s *= 2u',
      'var s = 1u; ; s *= 2u',
      'var s = 1u; s < 256u; ',
      'var s = 1u; s < 256u; state *= 2u',
      'var s = 1u; s < 256u; out[0] *= 2u',
      'var s: u32; s < 256u; s *= 2u',
      '; state < 256u; state *= 2u',
      'var s = 1.0; s < 256.0; s *= 2.0',
      'var s = 1u; n < 256u; s *= 2u',
    ])
      expect(
        most(
          `for (${head}) { state++; if state > 9u { break; } }`,
          'var<private> state: u32; var<private> yes: bool;',
        ),
        head,
      ).toBe(undefined)
    // The last product is the largest value of the type.
    expect(most('for (var s = 1u; s <= 1431655765u; s *= 3u) { }')).toBe(20)
    expect(most('for (var s = 1u; s <= 1431655766u; s *= 3u) { }')).toBe(undefined)
    expect(most('for (var s = 1u; s < 256u; s += 2u) { }')).toBe(128)
    for (const operator of ['/', '%', '&', '|', '^', '<<', '>>', '*'])
      expect(most(`for (var s = 9u; s > 2u; s ${operator}= 2u) { }`), operator).toBe(
        operator === '/' ? 2 : undefined,
      )
    for (const operator of ['-', '/', '%', '&', '|', '^', '<<', '>>'])
      expect(most(`for (var s = 9u; s < 256u; s ${operator}= 2u) { }`), operator).toBe(undefined)
  })
  it('not when the bound depends on the counter, or no value of the counter exceeds it', () => {
    expect(most('for (var k = 0u; k <= k; k++) { }')).toBe(undefined)
    expect(most('for (var k = 0u; k < k + 1u; k += 2u) { }')).toBe(undefined)
    expect(most('for (var k = 0u; k <= max(k, 5u); k++) { }')).toBe(undefined)
    expect(most('for (var k = 0u; k < 9u - k / 2u; k += 2u) { }')).toBe(undefined)
    expect(most('for (var k = 7u; k >= 0u; k--) { }')).toBe(undefined)
    expect(most('for (var k = 0; k <= 2147483647; k++) { }')).toBe(undefined)
  })
  it('not when the counter is a float, which adding a step may not change', () => {
    expect(most('for (var k = 0.0; k < 1e9; k += 1.0) { }')).toBe(undefined)
    expect(most('var m = 1e9; for (var k = 0.0; k < m; k += 1.0) { }')).toBe(undefined)
  })
  it('not when the bound changes, the counter moves away from it or stays, or the loop is not a `for` loop', () => {
    expect(most('for (var k = 0u; k < out[0]; k += 2u) { out[k] = 1u; }')).toBe(undefined)
    expect(most('var m = 9u; for (var k = 0u; k < m; k += 2u) { m++; }')).toBe(undefined)
    expect(most('for (var k = 0u; k < 99u; k -= 16u) { out[k] = 1u; }')).toBe(undefined)
    expect(most('for (var k = 99u; k > 9u; k += 16u) { out[k] = 1u; }')).toBe(undefined)
    expect(most('for (var k = 0u; k < 99u; k += 0u) { out[k] = 1u; }')).toBe(undefined)
    expect(most('var j = 0u; for (var k = 0u; k < 99u; j++) { out[k] = 1u; }')).toBe(undefined)
    expect(most('for (var k = 0u; k < 99u; k++) { k = 0u; }')).toBe(undefined)
    expect(most('var k = 0u; while (k < n) { k++; }')).toBe(undefined)
    expect(
      most('var b = array(1u, 9u); var j = 0u; for (var k = 0u; k < b[j]; k += 2u) { j = 1u - j; }'),
    ).toBe(undefined)
  })
})

describe('the sides of a condition approach each other by a known step per iteration', () => {
  const step = (statements: string, declarations = '') => {
    const { loop, counters } = firstLoop(statements, declarations)
    return counters.approach(loop as For)?.step
  }
  it('if one side is a sum that contains the counter, and nothing else in the condition changes', () => {
    expect(step('for (var k = 0u; k < n; k += 3u) { }')).toBe(3)
    expect(step('var k = i; var m = n; for (; k * 4u + m <= n - 7u; k += 3u) { out[k] = m; }')).toBe(12)
    expect(step('for (var k = signed; 5 < k - 2; k -= 4) { }')).toBe(4)
  })
  it('not if an assignment in the body changes one of them, or the counter is in an operation other than a sum', () => {
    expect(step('var m = 9u; for (var k = 0u; k < m; k += 2u) { m = 9u - (k & 1u); }')).toBe(undefined)
    expect(step('var m = 0u; for (var k = 0u; k + m < 9u; k += 2u) { m = k & 1u; }')).toBe(undefined)
    expect(step('for (var k = 0u; k < 9u - k / 4u; k += 2u) { }')).toBe(undefined)
    expect(step('for (var k = 0u; k + (k & 4u) < 99u; k += 2u) { }')).toBe(undefined)
    expect(step('for (var k = 0u; k < out[0]; k += 2u) { }')).toBe(undefined)
    expect(step('for (var k = 0u; k < n; k += n) { }')).toBe(undefined)
    expect(step('for (var k = 0u; k != n; k++) { }')).toBe(undefined)
    expect(step('for (var k = 9u; k != 3u; k--) { }')).toBe(undefined)
    expect(step('for (var k = 9u; k == 9u; k--) { }')).toBe(undefined)
    expect(step('for (var k = 9u; 3u < out[0]; k--) { }')).toBe(undefined)
    expect(step('for (var k = 0u; k < n; k *= 2u) { }')).toBe(undefined)
    expect(step('for (var k = 0.0; u32(k) < 9u; k += 1.0) { }')).toBe(undefined)
    expect(step('for (var k = 0u; k < n; out[0] += 1u) { k += 3u; }')).toBe(undefined)
    expect(step('for (var k = 0u; k < n; state += 1u) { k += 3u; }', 'var<private> state: u32;')).toBe(
      undefined,
    )
    expect(step('for (; state < n; state += 1u) { }', 'var<private> state: u32;')).toBe(undefined)
  })
})
