// run: workgroups=4,1,1
// buffer values: i32[256] random
// buffer out: i32[8] random

@group(0) @binding(0) var<storage, read> values: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<atomic<i32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  atomicAdd(&out[id.x % 8u], values[id.x]);
}
