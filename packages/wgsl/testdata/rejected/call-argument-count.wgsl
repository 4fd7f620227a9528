// error: takes 2 arguments, not 1
fn f(a: u32, b: u32) -> u32 { return a + b; }
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  out[0] = f(1u);
}
