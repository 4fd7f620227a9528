// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

struct S { a: u32, b: array<vec2u, 2> }

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let a = u32() + u32(i32()) + u32(f32()) + u32(bool());
  let b = vec3u() + vec3<u32>();
  let c = array<u32, 4>();
  let d = S();
  let m = mat2x3f();
  out[i] = a + b.x + c[i % 4u] + d.a + d.b[1].y + u32(m[1].z) + i;
}
