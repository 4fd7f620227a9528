// run: workgroups=1,1,1
// buffer out: f32[64]

@group(0) @binding(0) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var m = mat3x4f();
  m[i % 3u][i % 4u] = f32(i) + 1.0;
  m[(i + 1u) % 3u] = vec4f(1.0, 2.0, 3.0, 4.0);
  let n = m;
  out[i] = n[i % 3u][i % 4u] + m[0].x + m[1][1] * 10.0 + n[2][i % 4u] * 100.0;
}
