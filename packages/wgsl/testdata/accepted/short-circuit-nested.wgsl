// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn touch(calls: ptr<function, u32>, i: u32) -> bool {
  *calls += 1u;
  return (i + *calls) % 4u != 0u;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var calls = 0u;
  while touch(&calls, i) && (calls < 5u || touch(&calls, i + 1u)) && calls < 20u { }
  if !(touch(&calls, i) || touch(&calls, i)) { calls += 100u; }
  out[i] = calls;
}
