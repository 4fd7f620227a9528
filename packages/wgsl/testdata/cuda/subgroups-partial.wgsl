// run: workgroups=1,1,1
// buffer out: u32[40]
// A workgroup whose size is no multiple of 32: the lanes that exist take part.
enable subgroups;
@group(0) @binding(0) var<storage, read_write> out: array<u32, 40>;

@compute @workgroup_size(40)
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_invocation_id) lane: u32) {
  let last = subgroupMax(i);
  let count = subgroupAdd(1u);
  out[i] = u32(last >= i) + u32(subgroupInclusiveAdd(1u) == lane + 1u) * 10u + u32(count > lane) * 100u;
}
