// run: workgroups=1,1,1
// buffer out: f32[64]

@group(0) @binding(0) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  out[i] = 1.0 + 1e-3 + 0x1.8p1 + 1.5f + 3f + 1e3f + .25 + 7. + 0x1p-2f + 12345678.9 + f32(i) * 0.0;
}
