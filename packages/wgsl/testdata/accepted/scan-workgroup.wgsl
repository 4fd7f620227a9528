// run: workgroups=2,1,1
// buffer values: u32[128] random(0, 9)
// buffer out: u32[128]

@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
var<workgroup> sums: array<array<u32, 64>, 2>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32, @builtin(global_invocation_id) id: vec3u) {
  sums[0][i] = values[id.x];
  var current = 0u;
  for (var step = 1u; step < 64u; step *= 2u) {
    workgroupBarrier();
    var x = sums[current][i];
    if i >= step { x += sums[current][i - step]; }
    sums[1u - current][i] = x;
    current = 1u - current;
  }
  out[id.x] = sums[current][i];
}
