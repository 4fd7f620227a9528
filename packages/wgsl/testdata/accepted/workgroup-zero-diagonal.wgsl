// run: workgroups=1056,1,1
// buffer result: u32[67584]

// Each row gets one element from its thread, at the thread's own position; the other 63 must be zero. There are enough
// workgroups that some start in shared memory that others have used.
@group(0) @binding(0) var<storage, read_write> result: array<u32>;

var<workgroup> table: array<array<u32, 64>, 64>;

@compute @workgroup_size(64)
fn main(
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) thread: u32,
  @builtin(workgroup_id) group: vec3u,
) {
  table[local.x][thread] = 1u;
  workgroupBarrier();
  var sum = 0u;
  for (var column = 0u; column < 64u; column++) { sum += table[local.x][column]; }
  result[group.x * 64u + thread] = sum;
}
