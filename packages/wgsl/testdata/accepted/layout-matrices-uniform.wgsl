// run: workgroups=1,1,1
// buffer u: f32[40] iota(1, 1)
// buffer out: f32[16]

struct U { a: mat2x2f, b: mat3x2f, c: mat2x3f, d: mat4x4f, }
@group(0) @binding(0) var<uniform> u: U;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(1)
fn main() {
  out[0] = u.a[1].y; out[1] = u.b[2].x; out[2] = u.c[1].z; out[3] = u.d[3].w;
  let x = u.b * vec3f(1.0, 2.0, 3.0);
  out[4] = x.x; out[5] = x.y;
  let y = u.c * vec2f(1.0, -1.0);
  out[6] = y.x; out[7] = y.z;
  let z = vec4f(1.0, 0.0, 0.5, 2.0) * u.d;
  out[8] = z.x; out[9] = z.w;
}
