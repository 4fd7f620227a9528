// run: workgroups=1,1,1 tolerance=absolute:0.0001
// buffer out: f32[64]

@group(0) @binding(0) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let a = f32(i32(i) - 32) * 0.75;
  out[i] = a % 2.5 + (-7.25 % (a + 40.0)) + vec2f(a, 5.5 + a).y % 3.0;
}
