// error: both have @group(0) @binding(0)
@group(0) @binding(0) var<storage, read_write> other: array<u32>;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  other[0] = 1; out[0] = 1;
}
