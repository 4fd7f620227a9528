// run: workgroups=2,3,2
// buffer out: u32[288]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(2, 3, 4)
fn main(
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) index: u32,
  @builtin(global_invocation_id) id: vec3u,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3u,
) {
  let linear = ((group.z * groups.y + group.y) * groups.x + group.x) * 24u + index;
  let same = id.x == group.x * 2u + local.x && id.y == group.y * 3u + local.y && id.z == group.z * 4u + local.z;
  out[linear] = id.x + id.y * 10u + id.z * 100u + select(0u, 10000u, same) + local.z * 20000u;
}
