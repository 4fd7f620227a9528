// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

struct Inner { x: u32, y: vec3f }
struct Outer { inner: array<Inner, 2>, m: mat2x2f }

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var a: Outer;
  a.inner[i % 2u].x = i;
  a.inner[1].y.z = f32(i) * 0.5;
  a.m[1] = vec2f(3.0, 4.0);
  var b = a;
  b.inner[0].x += 1000u;
  let c = b.inner[i % 2u];
  out[i] = a.inner[0].x + b.inner[0].x + c.x + u32(c.y.z) + u32(b.m[1].y);
}
