import { describe, expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { analyse } from './analyses.ts'
import { findZeroInit } from './zero-init.ts'

/** Names of the workgroup variables that must be zeroed. */
function zeroed(declarations: string, statements: string, size = '8, 8'): string[] {
  const module = lower(
    parseWgsl(`@group(0) @binding(0) var<storage, read_write> out: array<f32>;
    @group(0) @binding(1) var<uniform> n: u32;
    ${declarations}
    @compute @workgroup_size(${size}) fn main(@builtin(local_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32) { ${statements} }`),
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
  it('when constant loops cover it', () => {
    expect(
      zeroed(
        'var<workgroup> t: array<f32, 256>;',
        'for (var k = 0u; k < 4u; k++) { t[k * 64u + i] = 1.0; } workgroupBarrier(); out[i] = t[n & 255u];',
      ),
    ).toEqual([])
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
  })
  it('when more is read than written', () => {
    expect(
      zeroed('var<workgroup> t: array<f32, 65>;', 't[i] = 1.0; workgroupBarrier(); out[i] = t[64u - i];'),
    ).toEqual(['t'])
    expect(zeroed(one, 'if (i < 32u) { t[i] = 1.0; } workgroupBarrier(); out[i] = t[i];')).toEqual(['t'])
  })
  it('when reads are in the gaps that indices leave', () => {
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
  it('when one index of a store follows from another', () => {
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
})
