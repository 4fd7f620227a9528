// run: workgroups=1,1,1
// buffer starts: u32[32] values(64,67,66,3,0,9)
// buffer lengths: u32[1] values(5)
// buffer out: u32[32]
// A place in workgroup memory that is computed before a loop in whose counter its operand ends: ptxas 13.0 for sm_90 computes it again behind the loop, of the counter.
@group(0) @binding(0) var<storage, read> starts: array<u32>;
@group(0) @binding(1) var<storage, read> lengths: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
var<workgroup> values: array<u32, 128>;
var<workgroup> zeros: array<array<u32, 96>, 32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) li: u32) {
  for (var i = li; i < 128u; i += 32u) { values[i] = i; }
  workgroupBarrier();
  let start = min(starts[li], 63u) & 0xffffu;
  let length = lengths[0];
  var own = array<u32, 128>();
  for (var i = 0u; i < 128u; i++) { own[i] = 3u; }
  var sum = 1u + zeros[li][start + 5u];
  var k = start;
  for (var c = 0u; c < length; c++) {
    sum += own[k + 30u];
    k -= 1u;
  }
  out[li] = sum + values[start + 5u];
}
