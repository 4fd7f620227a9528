// run: workgroups=1,1,1
// buffer out: f32[64]

@group(0) @binding(0) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let a = f32(i) - 20.5;
  let sign = sign(a);
  let abs = abs(a);
  let max = max(abs, 4.0);
  out[i] = sign * max;
}
