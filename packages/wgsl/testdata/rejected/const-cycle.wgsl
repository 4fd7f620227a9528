// error: depends on itself
const a = b;
const b = a;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  
}
