// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn pick(k: u32) -> u32 {
  switch k {
    case 0u: { return 5u; }
    case 1u: { return 6u; }
    default: { return k * 100u; }
  }
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  out[i] = pick(i % 4u);
}
