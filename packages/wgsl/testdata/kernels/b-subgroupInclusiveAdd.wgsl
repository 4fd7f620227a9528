// run: workgroups=2,1,1
// buffer out: u32[128]
enable subgroups;

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(
  @builtin(global_invocation_id) id: vec3u,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) size: u32,
) {
  let r0 = subgroupInclusiveAdd(2u);
  out[id.x] = select(0u, 1u, r0 == lane * 2u + 2u);
}
