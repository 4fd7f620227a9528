// run: workgroups=1,1,1
// buffer out: u32[64]
//
// Calls that all lanes make, before and after calls that a filter allows some lanes to skip.
enable subgroups;
diagnostic(off, subgroup_uniformity);
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
fn most(x: u32) -> u32 { return subgroupMax(x); }
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) li: u32) {
  let isLast = li % 4u == 3u;
  var sum = 0u;
  for (var k = 1u; k < 4u; k++) {
    sum = sum * 10u + subgroupMax(select(0u, k, isLast));
    if !isLast { sum += subgroupMin(5u); }
  }
  if isLast { sum += subgroupMin(2u); }
  out[li] = sum * 10u + most(select(0u, 7u, isLast));
}
