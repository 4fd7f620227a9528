// error: an array cannot hold
@group(0) @binding(1) var<storage> b: array<array<u32>, 4>;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  
}
