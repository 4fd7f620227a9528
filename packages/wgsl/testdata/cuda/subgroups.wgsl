// run: workgroups=2,1,1
// buffer out: u32[128]
// A subgroup is a warp. Under a condition that differs between threads, those that are there take part.
enable subgroups;
diagnostic(off, subgroup_uniformity);
@group(0) @binding(0) var<storage, read_write> out: array<u32, 128>;

@compute @workgroup_size(64)
fn main(
  @builtin(global_invocation_id) id: vec3u,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) size: u32,
) {
  // Written so that the result does not depend on the size of a subgroup.
  let sum = subgroupAdd(1u) / size;
  let before = subgroupExclusiveAdd(1u) - lane;
  var odd = 0u;
  if (lane % 2u == 1u) {
    odd = subgroupAdd(2u) / size;
  }
  let neighbour = subgroupShuffleXor(id.x, 1u) ^ id.x;
  out[id.x] = sum + before * 10u + odd * 100u + neighbour * 1000u + u32(subgroupAll(true)) * 10000u;
}
