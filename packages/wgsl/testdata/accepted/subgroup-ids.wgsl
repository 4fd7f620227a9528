// run: workgroups=2,1,1
// buffer out: u32[128]
enable subgroups;
requires subgroup_id;

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(
  @builtin(global_invocation_id) id: vec3u,
  @builtin(local_invocation_index) i: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(num_subgroups) count: u32,
  @builtin(subgroup_size) size: u32,
) {
  out[id.x] = select(0u, 1u, subgroup < count && count * size >= 64u && i < 64u);
}
