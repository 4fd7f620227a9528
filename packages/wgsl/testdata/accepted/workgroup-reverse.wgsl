// run: workgroups=4,1,1
// buffer values: u32[256] random
// buffer out: u32[256]

@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
var<workgroup> tile: array<u32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_id) local: vec3u, @builtin(workgroup_id) group: vec3u) {
  let base = group.x * 64u;
  tile[local.x] = values[base + local.x];
  workgroupBarrier();
  out[base + local.x] = tile[63u - local.x];
}
