// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var k = 0u;
  var sum = 0u;
  while k < 100u {
    k += 1u;
    if k % 2u == 0u { continue; }
    if sum > i * 3u { break; }
    sum += k;
  }
  out[i] = sum;
}
