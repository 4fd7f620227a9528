// run: workgroups=4,1,1
// buffer values: u32[256] random
// buffer out: u32[8] random

@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
var<workgroup> shared_values: array<atomic<u32>, 2>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3u) {
  _ = atomicSub(&shared_values[i & 1], values[id.x]);
  workgroupBarrier();
  if i < 2 {
    out[group.x * 2 + i] = atomicLoad(&shared_values[i]);
  }
}
