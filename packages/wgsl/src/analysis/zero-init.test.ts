import { describe, expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { analyse } from './analyses.ts'
import { findZeroInit } from './zero-init.ts'

/** Names of the workgroup variables that must be zeroed, and the number of zero stores added. */
function zeroed(declarations: string, statements: string, size = '8, 8'): [string[], number] {
  const module = lower(
    parseWgsl(`@group(0) @binding(0) var<storage, read_write> out: array<f32>;
    @group(0) @binding(1) var<uniform> n: u32;
    ${declarations}
    @compute @workgroup_size(${size}) fn main(@builtin(local_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32) { ${statements} }`),
  )
  const result = findZeroInit(module, analyse(module))
  return [[...result.zeroed].map((v) => v.name), [...result.otherwise.values()].flat().length]
}

describe('workgroup memory needs no zeroing', () => {
  it('when each thread writes its element before a barrier', () => {
    expect(
      zeroed('var<workgroup> t: array<f32, 64>;', 't[i] = 1.0; workgroupBarrier(); out[i] = t[63u - i];'),
    ).toEqual([[], 0])
    expect(
      zeroed(
        'var<workgroup> t: array<array<f32, 9>, 8>;',
        't[id.y][id.x] = 1.0; workgroupBarrier(); out[i] = t[id.x][id.y];',
      ),
    ).toEqual([[], 0])
  })
  it('when constant loops and quotients of the index cover it', () => {
    expect(
      zeroed(
        'var<workgroup> t: array<f32, 256>;',
        'for (var k = 0u; k < 4u; k++) { t[k * 64u + i] = 1.0; } workgroupBarrier(); out[i] = t[n & 255u];',
      ),
    ).toEqual([[], 0])
    expect(
      zeroed(
        'var<workgroup> t: array<array<f32, 16>, 4>;',
        't[i / 16u][i % 16u] = 1.0; workgroupBarrier(); out[i] = t[i % 4u][i / 4u];',
      ),
    ).toEqual([[], 0])
  })
  it('when a loop fills it anew each time', () => {
    expect(
      zeroed(
        'var<workgroup> t: array<f32, 64>;',
        'for (var k = 0u; k < n; k++) { t[i] = f32(k); workgroupBarrier(); out[i] += t[63u - i]; workgroupBarrier(); }',
      ),
    ).toEqual([[], 0])
  })
  it('when a condition gets an else that stores zero', () => {
    expect(
      zeroed(
        'var<workgroup> t: array<f32, 64>;',
        'if (i < n) { t[i] = 1.0; } workgroupBarrier(); out[i] = t[63u - i];',
      ),
    ).toEqual([[], 1])
  })
  it('when only the first threads write what is read', () => {
    expect(
      zeroed(
        'var<workgroup> t: array<f32, 16>; var<workgroup> s: f32;',
        'if (i < 16u) { t[i] = 1.0; } if (i == 0u) { s = 2.0; } workgroupBarrier(); out[i] = t[i % 16u] + s;',
      ),
    ).toEqual([[], 0])
  })
})

describe('workgroup memory is zeroed', () => {
  const one = 'var<workgroup> t: array<f32, 64>;'
  it('when it is read before the barrier or without one', () => {
    expect(zeroed(one, 't[i] = 1.0; out[i] = t[63u - i];')[0]).toEqual(['t'])
    expect(zeroed(one, 'out[i] = t[i]; t[i] = 1.0; workgroupBarrier(); out[i] = t[i];')[0]).toEqual(['t'])
  })
  it('when more is read than written', () => {
    expect(
      zeroed('var<workgroup> t: array<f32, 65>;', 't[i] = 1.0; workgroupBarrier(); out[i] = t[64u - i];')[0],
    ).toEqual(['t'])
    expect(zeroed(one, 'if (i < 32u) { t[i] = 1.0; } workgroupBarrier(); out[i] = t[i];')[0]).toEqual(['t'])
  })
  it('when what is read lies in the gaps that indices leave', () => {
    expect(
      zeroed('var<workgroup> t: array<f32, 128>;', 't[i * 2u] = 1.0; workgroupBarrier(); out[i] = t[i];')[0],
    ).toEqual(['t'])
  })
  it('when indices leave gaps or several threads share an element under a condition', () => {
    expect(
      zeroed(
        'var<workgroup> t: array<f32, 128>;',
        't[i * 2u] = 1.0; workgroupBarrier(); out[i] = t[i * 2u];',
      )[0],
    ).toEqual(['t'])
    expect(
      zeroed(
        'var<workgroup> t: array<f32, 8>;',
        'if (i < n) { t[i % 8u] = 1.0; } workgroupBarrier(); out[i] = t[id.x];',
      )[0],
    ).toEqual(['t'])
    expect(
      zeroed(
        one,
        'if (i < n) { t[i] = 1.0; } if (i >= n) { t[63u - i] = 2.0; } workgroupBarrier(); out[i] = t[i];',
      )[0],
    ).toEqual(['t'])
  })
  it('when the index may repeat, a loop may end early, or a function reads it first', () => {
    expect(zeroed(one, 't[i ^ n] = 1.0; workgroupBarrier(); out[i] = t[i];')[0]).toEqual(['t'])
    expect(
      zeroed(
        'var<workgroup> t: array<f32, 128>;',
        'for (var k = 0u; k < 2u; k++) { if (n == k) { break; } t[k * 64u + i] = 1.0; } workgroupBarrier(); out[i] = t[i];',
      )[0],
    ).toEqual(['t'])
    expect(
      zeroed(
        `${one} fn peek(i: u32) -> f32 { return t[i]; }`,
        't[i] = peek(i) + 1.0; workgroupBarrier(); out[i] = t[i];',
      )[0],
    ).toEqual(['t'])
  })
  it('when it is atomic', () => {
    expect(
      zeroed(
        'var<workgroup> t: atomic<u32>;',
        'atomicAdd(&t, 1u); workgroupBarrier(); out[i] = f32(atomicLoad(&t));',
      )[0],
    ).toEqual(['t'])
  })
})
