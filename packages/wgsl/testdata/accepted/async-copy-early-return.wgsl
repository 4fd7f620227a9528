// run: workgroups=4,1,1
// buffer source: f32[1024] random
// buffer used: u32[4] values(3, 40, 0, 0)
// buffer result: f32[1024]

// Whole workgroups leave before the barrier with copies under way; single threads copy nothing.
@group(0) @binding(0) var<storage, read> source: array<vec4f>;
@group(0) @binding(1) var<uniform> used: vec4u;
@group(0) @binding(2) var<storage, read_write> result: array<vec4f>;

var<workgroup> tile: array<vec4f, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) group: vec3u) {
  let at = group.x * 64u + thread;
  if thread < used.y { tile[thread] = source[at]; } else { tile[thread] = vec4f(1.0, 2.0, 3.0, 4.0); }
  if group.x >= used.x { return; }
  workgroupBarrier();
  result[at] = tile[63u - thread];
}
