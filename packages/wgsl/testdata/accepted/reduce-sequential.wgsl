// run: workgroups=4,1,1
// buffer values: i32[1000] random(-1000, 1000)
// buffer out: i32[4]

@group(0) @binding(0) var<storage, read> values: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
var<workgroup> partial: array<i32, 128>;

@compute @workgroup_size(128)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u) {
  var sum = 0;
  for (var k = group.x * 128u + i; k < arrayLength(&values); k += groups.x * 128u) { sum += values[k]; }
  partial[i] = sum;
  workgroupBarrier();
  for (var stride = 64u; stride > 0u; stride >>= 1u) {
    if i < stride { partial[i] += partial[i + stride]; }
    workgroupBarrier();
  }
  if i == 0u { out[group.x] = partial[0]; }
}
