// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var k: u32;
  var total = 0u;
  for (k = 3u; k < i; k += 2u) { total += k; }
  out[i] = total * 100u + k;
}
