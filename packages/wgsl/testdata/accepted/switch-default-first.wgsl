// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  switch i32(i) - 2 {
    default { out[i] = 1; }
    case -1 { out[i] = 2; }
    case 0, 1 { out[i] = 3; }
  }
}
