// error: a matrix has components of f32 or f16
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let m = mat2x2<i32>();
}
