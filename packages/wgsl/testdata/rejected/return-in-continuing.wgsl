// error: 'return' is not allowed in a continuing block
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  loop { if id.x > 1 { break; } continuing { return; } }
}
