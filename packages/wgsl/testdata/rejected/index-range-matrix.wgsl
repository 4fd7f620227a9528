// error: the index 2 is outside mat2x3f
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let m = mat2x3f(); let c = m[2];
}
