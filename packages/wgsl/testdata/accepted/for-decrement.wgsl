// run: workgroups=1,1,1
// buffer out: i32[64]

@group(0) @binding(0) var<storage, read_write> out: array<i32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var result = 0;
  for (var k = i32(i); k > 0; k--) { result = result * 3 + k; }
  out[i] = result;
}
