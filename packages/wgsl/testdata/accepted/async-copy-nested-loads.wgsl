// run: workgroups=2,1,1
// buffer source: u32[64] random
// buffer result: u32[64]
// The copy remains pending across the barriers of the inner load, and ends before those of the outer one.
@group(0) @binding(0) var<storage, read> source: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> result: array<vec4u>;

var<workgroup> tile: array<vec4u, 8>;
var<workgroup> values: array<u32, 4>;
var<workgroup> index: u32;

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) group: vec3u) {
  tile[thread] = source[group.x * 8u + thread];
  let value = workgroupUniformLoad(&values[workgroupUniformLoad(&index)]);
  result[group.x * 8u + thread] = tile[7u - thread] + value;
}
