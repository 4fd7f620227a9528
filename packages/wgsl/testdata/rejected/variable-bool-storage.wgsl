// error: bool has no host-shareable layout
@group(0) @binding(1) var<storage> x: array<bool>;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  
}
