// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn bump(calls: ptr<function, u32>, i: u32) -> u32 {
  *calls += 1u;
  return i % 4u;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var calls = 0u;
  switch bump(&calls, i) {
    case 1u: { out[i] = 10u + calls; }
    case 2u: { out[i] = 20u + calls; }
    default: { out[i] = 30u + calls; }
  }
}
