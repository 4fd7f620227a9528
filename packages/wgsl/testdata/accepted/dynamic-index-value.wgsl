// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

struct S { values: array<u32, 3>, }
fn make(i: u32) -> S { return S(array(i, i + 1u, 2u)); }

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let a = array(vec2u(1u, 2u), vec2u(3u, 4u), vec2u(5u, i));
  let s = make(i);
  out[i] = a[i % 3u].y + a[2][i % 2u] * 10u + s.values[i % 3u] * 100u + array(7u, 8, 9)[i % 3u] * 10000u;
}
