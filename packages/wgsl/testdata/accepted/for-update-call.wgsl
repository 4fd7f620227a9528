// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn step_by(k: ptr<function, u32>, by: u32) { *k += by; }

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  for (var k = 0u; k < 5u; step_by(&k, i % 3u + 1u)) { out[i] = out[i] * 10u + k; }
}
