// run: workgroups=2,1,1
// buffer values: u32[128] random(0, 1000)
// buffer out: u32[2]
enable subgroups;

@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
var<workgroup> partial: array<u32, 64>;

@compute @workgroup_size(64)
fn main(
  @builtin(global_invocation_id) id: vec3u,
  @builtin(local_invocation_index) i: u32,
  @builtin(workgroup_id) group: vec3u,
  @builtin(subgroup_size) size: u32,
) {
  let sum = subgroupAdd(values[id.x]);
  if subgroupElect() { partial[i / size] = sum; }
  workgroupBarrier();
  if i == 0u {
    var total = 0u;
    for (var k = 0u; k < (64u + size - 1u) / size; k++) { total += partial[k]; }
    out[group.x] = total;
  }
}
