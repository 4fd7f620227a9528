import { expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { findInvocationAccesses } from './invocation-accesses.ts'

/** The elements that every invocation accesses, as `x[base + y - 2]`. */
function reached(body: string, workgroupSize = '8'): string[] {
  const module = lower(
    parseWgsl(`
      struct P { x_base: u32, n: u32 }
      struct Tail { head: vec4u, tail: array<vec2u> }
      @group(0) @binding(0) var<storage, read_write> x: array<u32>;
      @group(0) @binding(1) var<storage, read_write> t: Tail;
      @group(0) @binding(2) var<storage, read_write> a: array<atomic<u32>>;
      @group(0) @binding(3) var<storage, read_write> fixed: array<u32, 8>;
      @group(0) @binding(4) var<uniform> p: P;
      @group(0) @binding(5) var<storage, read_write> v: vec4u;
      @group(0) @binding(6) var<uniform> count: u32;
      @group(0) @binding(7) var<storage, read> s: P;
      @group(0) @binding(8) var<storage, read_write> bytes: buffer;
      var<workgroup> tile: array<u32, 8>;
      fn write(i: u32) { x[i] = 1u; }
      @compute @workgroup_size(${workgroupSize})
      fn main(@builtin(local_invocation_index) l: u32, @builtin(global_invocation_id) id: vec3u) { ${body} }`),
  )
  return findInvocationAccesses(module).map(
    ({ variable, axis, offset, base, byteOffset, strideByteLength }) => {
      const at = byteOffset === 0 && strideByteLength === 4 ? '' : `@${byteOffset}/${strideByteLength}`
      const added = offset === 0 ? '' : offset > 0 ? ` + ${offset}` : ` - ${-offset}`
      return `${variable.name}${at}[${base === undefined ? '' : `${base} + `}${'xyz'[axis]}${added}]`
    },
  )
}

it.each([
  ['x[id.x] = 1u;', ['x[x]']],
  ['let i = id.y + 3u; x[i - 1u] += 1u;', ['x[y + 2]']],
  ['x[i32(id.x) - 2] = x[id.z];', ['x[x - 2]', 'x[z]']],
  ['x[p.x_base + id.x] = 1u;', ['x[x_base + x]']],
  ['t.tail[id.x].y = 1u;', ['t@16/8[x]']],
  ['atomicAdd(&a[id.x], 1u);', ['a[x]']],
  ['if (x[id.x] == 0u) { x[0] = 1u; }', ['x[x]']],
  ['switch x[id.x] { case 0u: { x[0] = 1u; } default: { } }', ['x[x]']],
  ['while x[id.x] == 0u { x[0] = 1u; }', ['x[x]']],
  ['{ x[id.x] = 1u; }', ['x[x]']],
  ['for (var k = 0u; k < p.n; k++) { fixed[0] += k; } x[id.x] = 1u;', ['x[x]']],
  ['_ = x[id.x] == 0u || x[id.y] == 0u;', ['x[x]']],
  ['for (;;) { break; } x[id.x] = 1u;', ['x[x]']],
  ['x[count + id.x] = 1u; x[id.x] = 1u;', ['x[x]']],
  ['x[s.n + id.x] = 1u; x[id.x] = 1u;', ['x[x]']],
])('finds the elements that %s accesses', (body, expected) => {
  expect(reached(body)).toEqual(expected)
})

it.each([
  'if (id.x < arrayLength(&x)) { x[id.x] = 1u; }',
  'if (id.x >= arrayLength(&x)) { return; } x[id.x] = 1u;',
  'if (id.x >= p.n) { return; } x[id.x] = 1u;',
  'for (var k = id.x; k < p.n; k += 8u) { x[k] = 1u; }',
  'while (p.n > 7u) { x[id.x] = 1u; break; }',
  'switch (p.n) { case 1u: { x[id.x] = 1u; } default: {} }',
  'loop { if (p.n == 3u) { return; } break; } x[id.x] = 1u;',
  'x[min(id.x, arrayLength(&x) - 1u)] = 1u;',
  'x[id.x * 2u] = 1u;',
  'x[id.x + id.y] = 1u;',
  'x[id.x + l] = 1u;',
  'x[2u * p.x_base + id.x] = 1u;',
  'var i = id.x; i = 0u; x[i] = 1u;',
  'fixed[id.x] = 1u;',
  'write(id.x);',
  '_ = arrayLength(&x) > id.x && x[id.x] == 1u;',
  'x[p.x_base + p.n + id.x] = 1u;',
  'x[p.n] = 1u;',
  'x[3] = 1u;',
  'x[l] = 1u;',
  'v[id.x] = 1u;',
  'tile[id.x] = 1u;',
  'loop { if (p.n == 3u) { break; } x[id.x] = 1u; }',
  'bufferView<array<u32>>(&bytes, 0)[id.x] = 1u;',
])('finds nothing certain in %s', (body) => {
  expect(reached(body)).toEqual([])
})

it('finds nothing in a kernel without global_invocation_id', () => {
  const source = `@group(0) @binding(0) var<storage, read_write> x: array<u32>;
    @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) l: u32) { x[l] = 1u; }`
  expect(findInvocationAccesses(lower(parseWgsl(source)))).toEqual([])
})
