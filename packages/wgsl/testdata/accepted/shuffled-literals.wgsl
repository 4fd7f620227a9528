// run: workgroups=1,1,1
// buffer data: i32[64] random(-2147483648, 2147483647)
// buffer out: i32[320]
// If ptxas finds late that shuffled values are literals, a minimum of k - x has x - k in its place, and a bit that is
// shifted by one - k is lost.
enable subgroups;
@group(0) @binding(0) var<storage, read> data: array<i32, 64>;
@group(0) @binding(1) var<storage, read_write> out: array<i32, 320>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let x = data[63u - i];
  out[i] = min(data[i], subgroupBroadcastFirst(-2i) - x);
  out[i + 64u] = max(data[i], subgroupMax(5i) - x);
  out[i + 128u] = bitcast<i32>(min(bitcast<u32>(data[i]), subgroupShuffleXor(100u, 1u) - bitcast<u32>(x)));
  out[i + 192u] = min(data[i], subgroupShuffle(-2i, u32(data[i]) & 3u) - x);
  out[i + 256u] = bitcast<i32>((bitcast<u32>(x) & 1u) << ((1u - subgroupBroadcastFirst(8u)) & 31u));
}
