import { describe, expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { corpus } from '../testing/corpus.ts'
import { emitCuda } from './emit-cuda.ts'
import { hasProgram } from './testing/kernel-cases.ts'
import { nvccPtx } from './testing/nvcc-ptx.ts'

/** The arguments of `unknown` in the text of a kernel with this body. */
function hidden(body: string, functions = ''): string[] {
  const source = `@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<uniform> n: u32;
${functions}
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) { var k = n; ${body} }`
  const { parts } = emitCuda(lower(parseWgsl(source)), { bounds: 'clamp', lineDirectives: false })
  return [...parts.body.matchAll(/unknown\((.*)\)(?:;[^;]*)?\) /g)].map(([, condition]) => condition!)
}

describe('the compiler does not see how a condition is computed', () => {
  it('that ends a `for` whose counter does not approach its bound by a known step', () => {
    expect(hidden('for (var j = n; j <= n; j -= 1u) { out[i] += 1u; }')).toEqual(['j_ <= n_'])
    expect(hidden('for (var j = n; j > 5u; j += 1u) { out[i] += 1u; }')).toEqual(['j_ > 5u'])
    expect(hidden('for (var j = n; j < 5u; j += i) { out[i] += 1u; }')).toEqual(['j_ < 5u'])
  })
  it('that ends a `for` and compares a sum or product of the counter with other values', () => {
    expect(hidden('for (var j = n; n - j <= n; j--) { out[i] += 1u; }')).toEqual(['(n_ - j_) <= n_'])
    const known = 'let most = n & 63u; for (var j = most; most >= most - j; j--) { out[i] += 1u; }'
    expect(hidden(known)).toEqual(['most_ >= (most_ - j_)'])
    expect(hidden('for (var j = i; n + j < k; j++) { out[i] += 1u; }')).toEqual(['(n_ + j_) < k_'])
    expect(hidden('for (var j = i; j + n < k; j++) { out[i] += 1u; }')).toEqual(['(j_ + n_) < k_'])
  })
  it('that ends a `while` or a `loop`', () => {
    expect(hidden('while (k <= n) { k -= 1u; }')).toEqual(['k_ <= n_'])
    expect(hidden('while (k != 0u) { k &= k - 1u; }')).toEqual(['k_ != 0u'])
    expect(hidden('loop { k -= 1u; continuing { break if k > n; } }')).toEqual(['k_ > n_'])
  })
  it('that guards a `break` or a `return` in a loop, at any depth', () => {
    expect(hidden('loop { if (k > n) { break; } k -= 1u; }')).toEqual(['k_ > n_'])
    expect(hidden('for (var j = 0u; j < 9u; j++) { if (k > n) { break; } k -= 1u; }')).toEqual(['k_ > n_'])
    expect(hidden('loop { if (k > n) { } else { { return; } } k -= 1u; }')).toEqual(['k_ > n_'])
    expect(
      hidden(
        'loop { switch i { case 0u: { if (k > n) { break; } } default: { } } k -= 1u; if (k == 0u) { return; } }',
      ),
    ).toEqual(['k_ > n_', 'k_ == 0u'])
    expect(hidden('loop { let c = k > n; if (c) { break; } k -= 1u; }')).toEqual(['c_'])
    expect(hidden('loop { if (k != 3u && k > n) { break; } k -= 1u; }')).toEqual(['(k_ != 3u) && (k_ > n_)'])
    const past = 'fn past(k: u32) -> bool { if (k > 3u) { return true; } return k > n; }'
    expect(hidden('loop { if (past(k)) { break; } k -= 1u; }', past)).toEqual(['past_(k_1, n_)'])
  })
  it('whichever result of the comparison leaves the loop', () => {
    expect(hidden('while ((k <= n) == true) { k -= 1u; }')).toEqual(['(k_ <= n_) == true'])
    expect(hidden('loop { if (max(k, n) != n) { break; } k -= 1u; }')).toEqual(['max(k_, n_) != n_'])
    expect(hidden('loop { if (select(0.0, 1.0, k > n) > 0.5) { break; } k -= 1u; }')).toHaveLength(1)
    const flag = 'var stop = 0u; while (stop == 0u) { k -= 1u; if (k > n) { stop = 1u; } }'
    expect(hidden(flag)).toEqual(['stop_ == 0u'])
    const selected = 'loop { switch u32(k > n) { case 1u: { return; } default: { } } k -= 1u; }'
    expect(hidden(selected)).toEqual(['(unsigned)(k_ > n_)'])
    expect(hidden('loop { k -= 1u; if (k <= n) { continue; } break; }')).toEqual(['k_ <= n_'])
    const continued = 'loop { k -= 1u; switch u32(k <= n) { case 1u: { continue; } default: { } } break; }'
    expect(hidden(continued)).toEqual(['(unsigned)(k_ <= n_)'])
    const inner = 'loop { k -= 1u; for (var j = k; j > n; j--) { return; } }'
    expect(hidden(inner)).toEqual(['j_ > n_'])
  })
  it('except in a `for` that moves towards its bound, if it leaves no loop, and outside loops', () => {
    expect(hidden('for (var j = i; j < n; j += 4u) { out[j] += 1u; }')).toEqual([])
    expect(hidden('for (var j = 9u; j < 20u; j++) { out[j] += 1u; }')).toEqual([])
    expect(hidden('for (var j = i; n > j * 4u + 8u; j++) { out[j] += 1u; }')).toEqual([])
    expect(hidden('for (var j = 64u; j > 0u; j /= 2u) { out[j] += 1u; }')).toEqual([])
    expect(hidden('for (var j = 0u; j < n; j++) { if (k > n) { continue; } k -= 1u; }')).toEqual([])
    expect(
      hidden('for (var j = 0u; j < n; j++) { switch k { case 0u: { k++; } default: { break; } } }'),
    ).toEqual([])
    expect(hidden('for (var j = k; j > n; j--) { return; }')).toEqual([])
    expect(
      hidden('if (k > n) { return; } loop { if (k > n) { out[i] = 1u; } if (true) { break; } k -= 1u; }'),
    ).toEqual([])
  })
})

/** The PTX of a kernel of the corpus. */
function ptxOf(kernel: string): string {
  return ptxOfSource(corpus('accepted').find(({ name }) => name === kernel)!.source)
}

function ptxOfSource(source: string): string {
  return nvccPtx(emitCuda(lower(parseWgsl(source)), { bounds: 'clamp', lineDirectives: false }).source)
}

it.skipIf(!hasProgram('nvcc'))(
  'nvcc keeps a backward branch in each loop that moves away from its bound (needs nvcc)',
  () => {
    const ptx = ptxOf('loop-away-derived.wgsl')
    const labels = [...ptx.matchAll(/^(\$\w+):/gm)]
    const back = labels.filter((m) => new RegExp(`bra[.\\w]*\\s+\\${m[1]};`).test(ptx.slice(m.index)))
    expect(back).toHaveLength(8)
  },
)

/** The comparisons of PTX with a register that the same block has set to a literal, which ptxas evaluates. */
function literalComparisons(ptx: string): string[] {
  const literals = new Set<string>()
  return ptx.split('\n').filter((line) => {
    if (/^\$\w+:|\bbra\b/.test(line)) literals.clear()
    const compared = /^\s*setp\S*\s+%p\d+, (%r\d+), -?\d+;/.exec(line)
    const set = /(%r\d+), (.*);/.exec(line)
    if (compared !== null) return literals.has(compared[1]!)
    if (set === null) return false
    const isLiteral = /^\s*mov/.test(line) && (/^-?\d+$/.test(set[2]!) || literals.has(set[2]!))
    if (isLiteral) literals.add(set[1]!)
    else literals.delete(set[1]!)
    return false
  })
}

it.skipIf(!hasProgram('nvcc'))('ptxas knows no exit condition as a constant (needs nvcc)', () => {
  const ptx = ptxOf('loop-two-rounds.wgsl')
  expect(ptx).toMatch(/\.pragma "nounroll"/)
  expect(literalComparisons(ptx)).toEqual([])
})

it.skipIf(!hasProgram('nvcc'))('nvcc knows as well as ptxas that lanes are below 32 (needs nvcc)', () => {
  const ptx = ptxOfSource(`enable subgroups;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(subgroup_invocation_id) lane: u32) {
  if (lane > 31u || (lane ^ 32u) < 32u || (lane & out[1]) >= 32u) { out[0] = 1u; }
}`)
  expect(ptx).toContain('ret;')
  expect(ptx).not.toContain('st.global')
})

it.skipIf(!hasProgram('nvcc'))(
  'neither nvcc nor ptxas knows an exit condition that inlining makes constant (needs nvcc)',
  () => {
    const ptx = ptxOfSource(`@group(0) @binding(0) var<storage, read_write> out: array<u32>;
fn count(leave: bool) { loop { out[0] += 1u; if (leave) { break; } if (out[1] > 5u) { break; } } }
@compute @workgroup_size(64) fn main() { count(true); }`)
    expect(ptx).toMatch(/%nctaid\.y.*and\.b32\s+%r\d+, %r\d+, 65536;.*bra/s)
  },
)
