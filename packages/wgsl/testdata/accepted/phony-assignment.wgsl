// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn count(calls: ptr<function, u32>) -> u32 {
  *calls += 1u;
  return *calls;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var calls = 0u;
  _ = count(&calls);
  _ = i + 3u;
  count(&calls);
  out[i] = calls;
}
