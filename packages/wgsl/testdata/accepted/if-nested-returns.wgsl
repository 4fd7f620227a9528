// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn classify(i: u32) -> u32 {
  if i < 4u {
    if i == 2u { return 22u; }
    return 10u;
  } else {
    if i > 60u { return 99u; } else { return i * 2u; }
  }
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  out[i] = classify(i);
}
