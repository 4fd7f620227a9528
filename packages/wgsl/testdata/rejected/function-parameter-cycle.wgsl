// error: depends on itself
fn f(p: ptr<function, array<u32, f()>>) { }
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  
}
