// run: workgroups=1,1,1
// buffer values: u32[128] random

@group(0) @binding(0) var<storage, read_write> values: array<u32, 128>;
var<workgroup> keys: array<u32, 128>;

fn order(all: ptr<workgroup, array<u32, 128>>, a: u32, b: u32, ascending: bool) {
  let x = (*all)[a];
  let y = all[b];
  if (x > y) == ascending {
    (*all)[a] = y;
    all[b] = x;
  }
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  keys[i] = values[i];
  keys[i + 64u] = values[i + 64u];
  for (var size = 2u; size <= 128u; size <<= 1u) {
    for (var stride = size >> 1u; stride > 0u; stride >>= 1u) {
      workgroupBarrier();
      let low = 2u * stride * (i / stride) + i % stride;
      order(&keys, low, low + stride, (low & size) == 0u);
    }
  }
  workgroupBarrier();
  values[i] = keys[i];
  values[i + 64u] = keys[i + 64u];
}
