// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var x = i;
  for (var k = 0; k < 5000; k++) { x = x * 1664525u + 1013904223u; }
  out[i] = x;
}
