import { describe, expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import type { For, Loop, While } from '../ir.ts'
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
  const loops: (For | While | Loop)[] = []
  walk(module.entryPoint, {
    statement(s) {
      if (s.kind === 'for' || s.kind === 'while' || s.kind === 'loop') loops.push(s)
      return undefined
    },
  })
  return { loop: loops[0]!, counters: analyse(module).counters }
}

/** Trips of a `for` loop as text: '4' exactly, '≤ 4' at most, '?' unknown; and the counter's values. */
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
    expect(counted('var k = 7; k >= 0; k--')).toBe('8, 0 to 7')
    expect(counted('var k = 10u; k > 1u; k -= 3u')).toBe('3, 4 to 10')
    expect(counted('var k = 0u; 10u > k; k += 5u')).toBe('2, 0 to 5')
    expect(counted('var k = 5u; k < 5u; k++')).toBe('0')
  })
  it('are known in part where an end is one of several values', () => {
    expect(counted('var k = i; k < 256u; k += 64u')).toBe('4, 0 to 255')
    expect(counted('var k = i; k < 250u; k += 64u')).toBe('≤ 4, 0 to 249')
    expect(counted('var k = 0u; k < min(n, 9u); k++')).toBe('≤ 9, 0 to 8')
    expect(counted('var k = 0u; k < n; k++')).toBe('≤ 4294967295, 0 to 4294967294')
  })
  it('come from halving', () => {
    expect(counted('var k = 64u; k > 0u; k >>= 1u')).toBe('7')
    expect(counted('var k = 100u; k > 2u; k /= 10u')).toBe('2')
  })
  it('are unknown where the counter may wrap around', () => {
    expect(counted('var k = 5; k < signed; k += 1073741824')).toBe('?')
    expect(counted('var k = 0u; k < n; k += 2u')).toBe('?')
    expect(counted('var k = 0u; k <= n; k++')).toBe('?')
    expect(counted('var k = 4u; k != 9u; k++')).toBe('?')
    expect(counted('var k = 3u; k >= 0u; k--')).toBe('?')
    expect(counted('var k = 0u; k < 4294967295u; k += 2u')).toBe('?')
    expect(counted('var k = 0u; k < 4294967294u; k += 2u')).toBe('2147483647, 0 to 4294967292')
  })
  it('are unknown where something else changes the counter', () => {
    expect(counted('var k = 0u; k < 9u; k++', '', 'k += n;')).toBe('?')
    const bump = 'fn bump(p: ptr<function, i32>) -> i32 { *p += 1; return 5; }'
    expect(counted('var k = 0; k < (bump(&k) & 0) + 10; k++', bump)).toBe('?')
    expect(counted('var k = 0; k < 10; k++', bump, '_ = bump(&k);')).toBe('?')
  })
})

describe('a loop ends by itself', () => {
  const ends = (statements: string, declarations = '') => {
    const { loop, counters } = firstLoop(statements, declarations)
    return counters.endsByItself(loop)
  }
  it('when it counts towards a bound that stays', () => {
    expect(ends('for (var k = 0u; k < n; k += 16u) { out[k] = 1u; }')).toBe(true)
    expect(ends('for (var k = i; k < arrayLength(&out); k += 64u) { out[k] = 1u; }')).toBe(true)
    expect(ends('for (var k = signed; k >= 0; k -= 2) { out[k] = 1u; }')).toBe(true)
  })
  it('not when the bound is made of the counter, or no value of the counter is beyond it', () => {
    expect(ends('for (var k = 0u; k <= k; k++) { }')).toBe(false)
    expect(ends('for (var k = 0u; k <= max(k, 5u); k++) { }')).toBe(false)
    expect(ends('for (var k = 7u; k >= 0u; k--) { }')).toBe(false)
    expect(ends('for (var k = 0; k <= 2147483647; k++) { }')).toBe(false)
  })
  it('not when the counter is a float, which steps may leave as it is', () => {
    expect(ends('for (var k = 0.0; k < 1e9; k += 1.0) { }')).toBe(false)
  })
  it('not when the bound moves, the counter turns away, or it is no `for` loop', () => {
    expect(ends('for (var k = 0u; k < out[0]; k += 16u) { out[k] = 1u; }')).toBe(false)
    expect(ends('for (var k = 0u; k < n; k -= 16u) { out[k] = 1u; }')).toBe(false)
    expect(ends('var k = 0u; while (k < n) { k += 2u; }')).toBe(false)
    expect(
      ends('var b = array(1u, 9u); var j = 0u; for (var k = 0u; k < b[j]; k += 2u) { j = 1u - j; }'),
    ).toBe(false)
  })
})
