// error: a read-only storage variable
@group(0) @binding(1) var<storage, read> r: array<u32>; fn f(p: ptr<storage, array<u32>, read>) { (*p)[0] = 1u; }
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  f(&r);
}
