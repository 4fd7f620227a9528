import { describe, expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { analyse } from './analyses.ts'
import { findZeroInit } from './zero-init.ts'

/** Names of the workgroup variables that must be zeroed. */
function zeroed(declarations: string, statements: string, size = '8, 8'): string[] {
  const module = lower(
    parseWgsl(`enable subgroups;
    @group(0) @binding(0) var<storage, read_write> out: array<f32>;
    @group(0) @binding(1) var<uniform> n: u32;
    ${declarations}
    @compute @workgroup_size(${size}) fn main(@builtin(local_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32,
      @builtin(subgroup_invocation_id) lane: u32, @builtin(workgroup_id) group: vec3u) { ${statements} }`),
  )
  return [...findZeroInit(module, analyse(module))].map((v) => v.name)
}

describe('workgroup memory needs no zeroing', () => {
  it('when each thread writes its element before a barrier', () => {
    expect(
      zeroed('var<workgroup> t: array<f32, 64>;', 't[i] = 1.0; workgroupBarrier(); out[i] = t[63u - i];'),
    ).toEqual([])
    expect(
      zeroed(
        'var<workgroup> t: array<array<f32, 9>, 8>;',
        't[id.y][id.x] = 1.0; workgroupBarrier(); out[i] = t[id.x][id.y];',
      ),
    ).toEqual([])
    expect(
      zeroed(
        'var<workgroup> t: array<f32, 64>;',
        't[id.y * 8u + id.x] = 1.0; workgroupBarrier(); out[i] = t[63u - i];',
      ),
    ).toEqual([])
  })
  it('however the sum of positions is written', () => {
    const one = (index: string, size?: string) =>
      zeroed(
        'var<workgroup> t: array<f32, 64>;',
        `t[${index}] = 1.0; workgroupBarrier(); out[i] = t[63u - i];`,
        size,
      )
    for (const index of [
      'id.xy.y * 8u + id.yx.y',
      '8u * id.y + id.x',
      '(id.y << 3u) + id.x',
      'u32(i32(i))',
      'vec2u(i).y',
      'i + n - n',
      'i + n * 0u',
      'i + ((n << 31u) << 1u)',
    ])
      expect(one(index), index).toEqual([])
    expect(one('i', '4, 4, 4')).toEqual([])
    expect(one('id.z * 16u + id.y * 4u + id.x', '4, 4, 4')).toEqual([])
    expect(
      zeroed('var<workgroup> t: array<f32, 1>;', 't[n * 0u] = 1.0; workgroupBarrier(); out[i] = t[0];'),
    ).toEqual([])
    for (const index of [
      '1u << i',
      '9u / (i + 1u)',
      '3u & i',
      '7u % (i + 1u)',
      'lane',
      'group.x',
      'id.x ^ 1u',
      'i + lane',
    ])
      expect(one(index), index).toEqual(['t'])
  })
  it('when loops with constant trip counts cover it', () => {
    expect(
      zeroed(
        'var<workgroup> t: array<f32, 256>;',
        'for (var k = 0u; k < 4u; k++) { t[k * 64u + i] = 1.0; } workgroupBarrier(); out[i] = t[n & 255u];',
      ),
    ).toEqual([])
    for (const stores of [
      'for (var k = 0u; k < 8u; k += 2u) { t[k * 32u + i] = 1.0; }',
      'for (var k = i; k < 256u; k += 64u) { t[k] = 1.0; }',
      'for (var k = 3u; k < 7u; k++) { t[(k - 3u) * 64u + i] = 1.0; }',
      'for (var j = 0u; j < 2u; j++) { for (var k = 0u; k < 2u; k++) { t[j * 128u + k * 64u + i] = 1.0; } }',
      'for (var j = 0u; j < 2u; j++) { for (var k = 0u; k < 2u; k++) { t[k * 128u + j * 64u + i] = 1.0; } }',
      'for (var j = 0u; j < 1u; j++) { for (var k = 0u; k < 4u; k++) { t[j * 3u + k * 64u + i] = 1.0; } }',
      '{ for (var k = 0u; k < 4u; k++) { { t[k * 64u + i] = 1.0; } } }',
      't[i] = 2.0; for (var k = 0u; k < 4u; k++) { out[k] = 2.0; }',
    ])
      expect(
        zeroed(
          `var<workgroup> t: array<f32, 256>;`,
          `${stores} workgroupBarrier(); out[i] = t[n & ${stores.startsWith('t') ? 63 : 255}u];`,
        ),
        stores,
      ).toEqual([])
  })
  it('when the barrier is the first statement of a loop that certainly runs', () => {
    const loop = (head: string, first: string) =>
      zeroed(
        'var<workgroup> t: array<f32, 64>;',
        `t[i] = 1.0; for (var k = ${head}; k++) { ${first} out[i] += t[63u - i]; workgroupBarrier(); }`,
      )
    expect(loop('0u; k < 4u', 'workgroupBarrier();')).toEqual([])
    expect(loop('0u; k < n', 'workgroupBarrier();')).toEqual(['t'])
    expect(loop('4u; k < 4u', 'workgroupBarrier();')).toEqual(['t'])
    expect(loop('0u; k < 4u', 'storageBarrier();')).toEqual(['t'])
    expect(loop('0u; k < 4u', '')).toEqual(['t'])
    expect(loop('0u; k < 4u', '{ workgroupBarrier(); }')).toEqual(['t'])
    const text = 't[i] = 1.0; for (var k = 0u; k < 4u; k++) { } out[i] = t[63u - i];'
    expect(zeroed('var<workgroup> t: array<f32, 64>;', text)).toEqual(['t'])
  })
  it('when nothing reads it, or another variable is read before it', () => {
    expect(zeroed('var<workgroup> t: array<f32, 64>;', 't[i] = 1.0; t[63u - i] = 2.0;')).toEqual([])
    expect(
      zeroed(
        'var<workgroup> t: array<f32, 64>; var<workgroup> u: array<f32, 64>;',
        't[i] = 1.0; u[i] = 2.0; workgroupBarrier(); t[63u - u32(u[63u - i])] = 3.0; workgroupBarrier(); out[i] = t[i];',
      ),
    ).toEqual([])
  })
  it('when its elements are vectors', () => {
    const vectors = 'var<workgroup> t: array<vec4f, 64>;'
    expect(zeroed(vectors, 't[i] = vec4f(1); workgroupBarrier(); out[i] = t[63u - i].y;')).toEqual([])
    expect(zeroed(vectors, 't[i] = vec4f(1); workgroupBarrier(); out[i] = t[63u - i][n & 3u];')).toEqual([])
    expect(zeroed('var<workgroup> t: vec4f;', 't = vec4f(1); workgroupBarrier(); out[i] = t.x;')).toEqual([])
    expect(zeroed('var<workgroup> t: vec4f;', 't.x = 1.0; workgroupBarrier(); out[i] = t.y;')).toEqual(['t'])
    expect(zeroed(vectors, 't[i].x = 1.0; workgroupBarrier(); out[i] = t[i].x;')).toEqual(['t'])
  })
  it('when only the part that is stored to is read', () => {
    const long = 'var<workgroup> t: array<f32, 100>;'
    expect(zeroed(long, 't[i + 10u] = 1.0; workgroupBarrier(); out[i] = t[73u - i];')).toEqual([])
    expect(zeroed(long, 't[i + 10u] = 1.0; workgroupBarrier(); out[i] = t[72u - i];')).toEqual(['t'])
    expect(zeroed(long, 't[i + 10u] = 1.0; workgroupBarrier(); out[i] = t[74u - i];')).toEqual(['t'])
    // An access with an index out of bounds may be of any element.
    expect(zeroed(long, 't[i + 10u] = 1.0; workgroupBarrier(); out[i] = t[i + 37u];')).toEqual(['t'])
    expect(zeroed(long, 't[i + 10u] = 1.0; workgroupBarrier(); out[i] = t[i32(i) - 1];')).toEqual(['t'])
    expect(zeroed(long, 't[i + 10u] = 1.0; workgroupBarrier(); let all = t; out[i] = all[20];')).toEqual([
      't',
    ])
    expect(zeroed(long, 't[i + 10u] = 1.0; workgroupBarrier(); t[73u - i] += 1.0;')).toEqual([])
    expect(zeroed(long, 't[i + 10u] = 1.0; workgroupBarrier(); t[i] += 1.0;')).toEqual(['t'])
    // A store past the end is not counted.
    const half = 't[i + 36u] = 1.0; workgroupBarrier(); out[i] = t[36u + (i & 31u)];'
    expect(zeroed('var<workgroup> t: array<f32, 68>;', half)).toEqual([])
    expect(zeroed(long, 't[i] = 1.0; workgroupBarrier(); out[u32(t[99u - i])] = 1.0;')).toEqual(['t'])
  })
})

describe('workgroup memory is zeroed', () => {
  const one = 'var<workgroup> t: array<f32, 64>;'
  it('when a function that the statement calls stores to it', () => {
    const both =
      'var<workgroup> t: array<f32, 64>; var<workgroup> other: array<f32, 64>; fn put() -> f32 { t[0] = 2.0; return 1.0; }'
    const code = 'other[i] = put(); workgroupBarrier(); out[i] = t[63u - i] + other[63u - i];'
    expect(zeroed(both, code)).toEqual(['t'])
  })
  it('when it is read before the barrier or without one', () => {
    expect(zeroed(one, 't[i] = 1.0; out[i] = t[63u - i];')).toEqual(['t'])
    expect(zeroed(one, 'out[i] = t[i]; t[i] = 1.0; workgroupBarrier(); out[i] = t[i];')).toEqual(['t'])
    expect(zeroed(one, 't[i] = 1.0; out[i] = t[63u - i]; workgroupBarrier(); out[i] = t[i];')).toEqual(['t'])
    expect(zeroed(one, 't[i] = 1.0; t[i] += 1.0; workgroupBarrier(); out[i] = t[i];')).toEqual(['t'])
    expect(zeroed(one, 't[i] = 1.0; storageBarrier(); out[i] = t[63u - i];')).toEqual(['t'])
    expect(
      zeroed(`${one} var<workgroup> c: atomic<u32>;`, 't[i] = 1.0; atomicAdd(&c, 1u); out[i] = t[63u - i];'),
    ).toEqual(['t', 'c'])
    expect(zeroed(one, 't[i] = 1.0; if (n > 1u) { workgroupBarrier(); out[i] = t[63u - i]; }')).toEqual(['t'])
  })
  it('when more is read than written', () => {
    expect(
      zeroed('var<workgroup> t: array<f32, 65>;', 't[i] = 1.0; workgroupBarrier(); out[i] = t[64u - i];'),
    ).toEqual(['t'])
    expect(zeroed(one, 'if (i < 32u) { t[i] = 1.0; } workgroupBarrier(); out[i] = t[i];')).toEqual(['t'])
  })
  it('when it is read in the gaps between the stored elements', () => {
    expect(
      zeroed('var<workgroup> t: array<f32, 128>;', 't[i * 2u] = 1.0; workgroupBarrier(); out[i] = t[i];'),
    ).toEqual(['t'])
  })
  it('when indices leave gaps, or the stores are conditional', () => {
    expect(
      zeroed(
        'var<workgroup> t: array<f32, 128>;',
        't[i * 2u] = 1.0; workgroupBarrier(); out[i] = t[i * 2u];',
      ),
    ).toEqual(['t'])
    expect(
      zeroed(
        'var<workgroup> t: array<f32, 8>;',
        'if (i < 8u) { t[i] = 1.0; } workgroupBarrier(); out[i] = t[id.x];',
      ),
    ).toEqual(['t'])
    expect(
      zeroed(
        one,
        'if (i < n) { t[i] = 1.0; } if (i >= n) { t[63u - i] = 2.0; } workgroupBarrier(); out[i] = t[i];',
      ),
    ).toEqual(['t'])
  })
  it('when a loop around the store has no known trip count, or is left early', () => {
    const long = 'var<workgroup> t: array<f32, 256>;'
    for (const stores of [
      'for (var k = 0u; k < n; k++) { t[k * 64u + i] = 1.0; }',
      'for (var k = 0u; k <= n; k++) { t[k * 64u + i] = 1.0; }',
      'for (var k = 4u; k < 4u; k++) { t[i] = 1.0; }',
      'for (var k = 4u; k > 0u; k /= 2u) { t[i] = 1.0; }',
      'for (var k = i; k < 250u; k += 64u) { t[k] = 1.0; }',
      'for (var k = u32(out[0]) & 0u; k < 4u; k++) { t[k * 64u + i] = 1.0; }',
      'for (var k = 0u; k < 4u; k++) { t[n] = 1.0; }',
      'for (var k = 0u; k < 4u; k++) { if (n == k) { continue; } t[k * 64u + i] = 1.0; }',
      'for (var k = 0u; k < 4u; k++) { if (n == k) { return; } t[k * 64u + i] = 1.0; }',
      'for (var k = 0u; k < 4u; k++) { if (n == k) { break; } t[k * 64u + i] = 1.0; }',
      'for (var k = 1u; k < 5u; k++) { t[k * 64u + i] = 1.0; }',
      'loop { t[i] = 1.0; break; }',
      'while (true) { t[i] = 1.0; break; }',
    ])
      expect(zeroed(long, `${stores} workgroupBarrier(); out[i] = t[n & 63u];`), stores).toEqual(['t'])
  })
  it('when an index has no known form, or the store is not of a whole scalar or vector', () => {
    expect(zeroed(one, 't[n] = 1.0; workgroupBarrier(); out[i] = t[0];')).toEqual(['t'])
    expect(zeroed(one, 't[u32(out[i])] = 1.0; workgroupBarrier(); out[i] = t[0];')).toEqual(['t'])
    expect(zeroed(one, 't = array<f32, 64>(); workgroupBarrier(); out[i] = t[0];')).toEqual(['t'])
    const square = 'var<workgroup> t: array<array<f32, 8>, 8>;'
    expect(zeroed(square, 't[id.x] = array<f32, 8>(); workgroupBarrier(); out[i] = t[0][0];')).toEqual(['t'])
    const structures = 'struct S { x: f32, y: f32 } var<workgroup> t: array<S, 64>;'
    expect(zeroed(structures, 't[i] = S(1, 2); workgroupBarrier(); out[i] = t[63u - i].x;')).toEqual(['t'])
    const structure = 'struct S { x: f32, y: f32 } var<workgroup> t: S;'
    expect(zeroed(structure, 't.x = 1.0; workgroupBarrier(); out[i] = t.x;')).toEqual(['t'])
    const matrices = 'var<workgroup> t: array<mat2x2f, 64>;'
    expect(zeroed(matrices, 't[i] = mat2x2f(); workgroupBarrier(); out[i] = t[63u - i][0].x;')).toEqual(['t'])
  })
  it('when the index may repeat, a loop may end early, or a function reads it first', () => {
    expect(zeroed(one, 't[i ^ n] = 1.0; workgroupBarrier(); out[i] = t[i];')).toEqual(['t'])
    expect(
      zeroed(
        'var<workgroup> t: array<f32, 128>;',
        'for (var k = 0u; k < 2u; k++) { if (n == k) { break; } t[k * 64u + i] = 1.0; } workgroupBarrier(); out[i] = t[i];',
      ),
    ).toEqual(['t'])
    expect(
      zeroed(
        `${one} fn peek(i: u32) -> f32 { return t[i]; }`,
        't[i] = peek(i) + 1.0; workgroupBarrier(); out[i] = t[i];',
      ),
    ).toEqual(['t'])
  })
  it('when one index of a store depends on another', () => {
    const square = (indices: string, size: string) =>
      zeroed(
        'var<workgroup> t: array<array<f32, 64>, 64>;',
        `t${indices} = 1.0; workgroupBarrier(); out[i] = t[id.x][n & 63u];`,
        size,
      )
    expect(square('[id.x][i]', '64')).toEqual(['t'])
    expect(square('[i][id.x]', '64')).toEqual(['t'])
    expect(square('[id.x][id.x]', '64')).toEqual(['t'])
    expect(square('[id.y * 8u + id.x][i]', '8, 8')).toEqual(['t'])
    expect(square('[i][i]', '8, 8')).toEqual(['t'])
  })
  it('when it is atomic', () => {
    expect(
      zeroed(
        'var<workgroup> t: atomic<u32>;',
        'atomicAdd(&t, 1u); workgroupBarrier(); out[i] = f32(atomicLoad(&t));',
      ),
    ).toEqual(['t'])
  })
  it('when calls access so many variables that a list of the accesses would take long', () => {
    const others = Array.from({ length: 500 }, (_, k) => k)
    const declared = `${one} ${others.map((k) => `var<private> p${k}: f32;`).join(' ')}
      fn f() { ${others.map((k) => `p${k} += 1.0;`).join(' ')} }`
    const calls = (n: number) =>
      zeroed(declared, `t[i] = 1.0; workgroupBarrier(); ${'f(); '.repeat(n)} out[i] = t[63u - i];`)
    expect([calls(3), calls(400)]).toEqual([[], ['t']])
  })
})
