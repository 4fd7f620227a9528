// error: the index 4 is outside array<u32, 4>
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  var a: array<u32, 4>; out[0] = a[4];
}
