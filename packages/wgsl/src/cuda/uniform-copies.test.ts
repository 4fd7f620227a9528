import { expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { findUniformCopies } from './uniform-copies.ts'

/** The variables that are copied, with the chunks that are used. */
function copies(declarations: string, statements: string, enables = ''): Record<string, number> {
  const module = lower(
    parseWgsl(`${enables} @group(0) @binding(0) var<storage, read_write> out: array<f32>;
    ${declarations}
    @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) { ${statements} }`),
  )
  return Object.fromEntries([...findUniformCopies(module)].map(([v, chunks]) => [v.name, chunks]))
}

const params = `struct Params { a: vec4f, b: f32, c: u32, d: array<vec4f, 2>, e: mat2x4f }
  @group(0) @binding(1) var<uniform> params: Params;`

it('copies the chunks that are used at constant offsets', () => {
  expect(copies(params, 'out[i] = params.a.y;')).toEqual({ params: 0b1 })
  expect(copies(params, 'out[i] = params.a.y + f32(params.c);')).toEqual({ params: 0b11 })
  expect(copies(params, 'out[i] = params.d[1].x + params.e[1][3];')).toEqual({ params: 0b101000 })
  expect(copies(params, 'let all = params; out[i] = all.b;')).toEqual({ params: 0b111111 })
})

it('skips variables that are indexed at run time, large, or not a whole number of words', () => {
  expect(copies(params, 'out[i] = params.a.x + params.d[i % 2u].x;')).toEqual({})
  expect(copies('@group(0) @binding(1) var<uniform> big: array<vec4f, 17>;', 'out[i] = big[16].x;')).toEqual(
    {},
  )
  expect(copies('@group(0) @binding(1) var<uniform> big: array<vec4f, 17>;', 'out[i] = big[0].x;')).toEqual(
    {},
  )
  expect(
    copies('@group(0) @binding(1) var<uniform> most: array<vec4f, 16>;', 'out[i] = most[15].x;'),
  ).toEqual({ most: 1 << 15 })
  const grid = '@group(0) @binding(1) var<uniform> grid: array<array<vec4f, 2>, 2>;'
  expect(copies(grid, 'out[i] = grid[1][i % 2u].x;')).toEqual({})
  expect(copies(grid, 'out[i] = grid[i % 2u][1].x;')).toEqual({})
  expect(copies(grid, 'out[i] = grid[1][0].x;')).toEqual({ grid: 0b100 })
  const bytes = '@group(0) @binding(1) var<uniform> bytes: buffer<64>;'
  expect(copies(bytes, 'out[i] = *bufferView<f32>(&bytes, 0);', 'requires buffer_view;')).toEqual({})
  const half = '@group(0) @binding(1) var<uniform> half: f16;'
  expect(copies(half, 'out[i] = f32(half);', 'enable f16;')).toEqual({})
  expect(copies(half.replace('f16', 'vec2h'), 'out[i] = f32(half.y);', 'enable f16;')).toEqual({ half: 1 })
})
