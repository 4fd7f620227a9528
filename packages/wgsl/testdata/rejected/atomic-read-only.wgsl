// error: atomics need workgroup memory or a writable storage buffer
@group(0) @binding(1) var<storage, read> r: atomic<u32>;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  
}
