// error: argument 1 of f is of type i32, not u32
fn f(a: u32) -> u32 { return a; }
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  out[0] = f(1i);
}
