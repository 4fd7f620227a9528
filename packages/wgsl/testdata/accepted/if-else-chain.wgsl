// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if i < 8 {
    out[i] = 1;
  } else if i < 16 {
    out[i] = 2;
  } else if (i % 2u == 0u) {
    out[i] = 3;
  } else {
    out[i] = 4;
  }
}
