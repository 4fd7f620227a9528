// run: workgroups=4,1,1
// buffer values: u32[256] random
// buffer bins: u32[16]

@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> bins: array<atomic<u32>, 16>;
var<workgroup> local_bins: array<atomic<u32>, 16>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32, @builtin(global_invocation_id) id: vec3u) {
  atomicAdd(&local_bins[values[id.x] >> 28u], 1u);
  workgroupBarrier();
  if i < 16u { atomicAdd(&bins[i], atomicLoad(&local_bins[i])); }
}
