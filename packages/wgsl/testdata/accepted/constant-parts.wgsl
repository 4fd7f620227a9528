// Parts of named constants, whose own names could be the same.
// run: workgroups=1,1,1
// buffer out: f32[64]

@group(0) @binding(0) var<storage, read_write> out: array<f32>;

struct Table { a: array<array<f32, 4>, 2>, a_0: array<f32, 4>, b: Inner }
struct Inner { c: array<vec2i, 3> }
const first = array(1, 2, 3, 4);
const table = Table(array(first, array(5, 6, 7, 8)), array(9, 10, 11, 12), Inner(array(vec2i(1, 2), vec2i(3), vec2i())));
const table_a = array(vec2(0.5, 0.25), vec2(0.125, 0.75));
const both = array(first, table.a[1], table.a_0);
const zeros = array(array<f32, 4>(), first);

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  const table_b = table.b.c;
  let c = table.b.c[i % 3];
  out[i] = table.a[0][i % 4] + 20 * table.a_0[i % 4] + 400 * table.a[1][i % 4] + f32(c.x + 8000 * table_b[i % 2].y)
    + table_a[1][i % 2] + both[2][i % 4] * f32(first[i % 4]) + zeros[0][i % 4] + zeros[1][i % 4];
}
