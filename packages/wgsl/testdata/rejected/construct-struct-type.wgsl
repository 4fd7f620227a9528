// error: part 2 of S is of type f32
struct S { a: u32, b: u32 }
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let s = S(1u, 2f);
}
