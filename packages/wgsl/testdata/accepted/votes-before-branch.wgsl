enable subgroups;
// run: workgroups=1,1,1
// buffer a: u32[96] values(0, 1, 7, 3, 3, 9, 2, 4, 3, 1, 0, 6, 3)
// buffer o: u32[128]
// Votes whose results some invocations use in a branch, among many conditions: ptxas moved a vote into the branch,
// where only these invocations took part. The votes are the same for subgroups of any size.
@group(0) @binding(0) var<storage, read> a: array<u32, 96>;
@group(0) @binding(1) var<storage, read_write> o: array<u32, 128>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_invocation_id) lane: u32) {
  let isFirst = lane == 0u;
  let hasFirst = subgroupAny(isFirst);
  let areFirst = subgroupAll(isFirst);
  let c1 = subgroupAny(lane < 1u && a[i] < 99u);
  let c2 = subgroupAny(lane == 1u && a[i + 1u] < 99u);
  let c3 = subgroupAll(lane > 0u || a[i + 2u] < 99u);
  let c4 = subgroupAll(lane < 2u && a[i + 3u] > 99u);
  let c5 = subgroupAll(a[i + 4u] < 10u);
  let c6 = subgroupAny(a[i + 5u] > 10u);
  if (a[i + 20u] == 3u) {
    o[i + 96u] = i;
    if (hasFirst) {
      o[i] = 4u;
    }
  }
  if (a[i + 40u] == 3u) {
    o[i + 96u] += 7u;
    if (areFirst) {
      o[i] = 5u;
    }
  }
  o[i + 64u] = select(0u, 1u, c1) + select(0u, 2u, c2) + select(0u, 4u, c3) + select(0u, 8u, c4)
    + select(0u, 16u, c5) + select(0u, 32u, c6) + select(0u, 64u, isFirst && c6);
}
