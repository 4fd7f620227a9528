// run: workgroups=1056,1,1
// buffer source: u32[270336] random
// buffer result: u32[270336]

// workgroupUniformLoad reads an element while copies may still be under way: it must wait for them.
@group(0) @binding(0) var<storage, read> source: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> result: array<vec4u>;

var<workgroup> tile: array<vec4u, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) group: vec3u) {
  tile[thread] = source[group.x * 64u + thread];
  workgroupBarrier();
  let shared_value = workgroupUniformLoad(&tile[5]);
  result[group.x * 64u + thread] = shared_value;
}
