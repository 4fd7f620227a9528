// run: workgroups=2,1,1
// buffer out: u32[16]

struct Indices {
  @builtin(local_invocation_id) local: vec3u,
  @builtin(workgroup_id) group: vec3u,
}
@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(8)
fn main(in: Indices, @builtin(num_workgroups) groups: vec3u) {
  out[in.group.x * 8u + in.local.x] = in.local.x + in.group.x * 100u + groups.x * 10000u;
}
