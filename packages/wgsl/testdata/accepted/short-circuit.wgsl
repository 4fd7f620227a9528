// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn touch(calls: ptr<function, u32>, result: bool) -> bool {
  *calls += 1u;
  return result;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var calls = 0u;
  let a = i % 2u == 0u && touch(&calls, true);
  let b = i % 3u == 0u || touch(&calls, false);
  let c = (i % 5u == 0u) & touch(&calls, true);
  let d = (i % 7u == 0u) | touch(&calls, false);
  out[i] = calls * 16u + u32(a) + u32(b) * 2u + u32(c) * 4u + u32(d) * 8u;
}
