// run: workgroups=2,1,1
// buffer size: u32[1] values(37)
// buffer out: u32[128]
// Workgroup memory reads as zero; where every element read was written before, nothing is done for it.
@group(0) @binding(0) var<storage, read> size: u32;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 128>;

var<workgroup> covered: array<array<u32, 9>, 8>;
var<workgroup> guarded: array<u32, 64>;
var<workgroup> sparse: array<u32, 64>;

@compute @workgroup_size(8, 8)
fn main(
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) i: u32,
  @builtin(workgroup_id) group: vec3u,
) {
  covered[local.y][local.x] = i;
  if (i < size) {
    guarded[i] = i * 2u;
  }
  if (i % 5u == 0u) {
    sparse[i] = 7u;
  }
  workgroupBarrier();
  out[group.x * 64u + i] = covered[local.x][local.y] + guarded[63u - i] * 100u + sparse[i ^ 1u] * 10000u;
}
