// run: workgroups=1,1,1
// buffer data: i32[256] random(-9, 9)
// buffer out: i32[320]
// ptxas knows bits of values through more operations than nvcc, so it finds branches that are never taken, literals and signs.
@group(0) @binding(0) var<storage, read> data: array<i32, 256>;
@group(0) @binding(1) var<storage, read_write> out: array<i32, 320>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let x = data[i];
  let y = data[i + 64u];
  let d = data[i + 128u] & 7;
  let u = u32(x) * 2654435769u;
  var even = u & 6u;
  for (var q = 1u; q < 8u; q++) {
    even = min(even, (u >> q) & 6u);
  }
  var k = -2;
  var one = 1u;
  var c = 8;
  var least = 0;
  var most = 0;
  var bits = 0u;
  var round = 0;
  loop {
    if ((even & 1u) != 0u) {
      k = d;
      one = u32(y);
      c = d;
      out[256] = 3;
    }
    least = least * 5 + min(y, k - x);
    most += max(y, (c << one) - x);
    bits = bits * 3u + ((one & u32(x)) << ((one - u32(c)) & 31u));
    round++;
    if (round > d) {
      break;
    }
  }
  out[i] = least;
  out[i + 64u] = most;
  out[i + 128u] = bitcast<i32>(bits);
  var negative = u | 0x80000000u;
  for (var q = 1u; q < 9u; q++) {
    negative ^= (u32(y) * q) >> q;
  }
  let half = bitcast<i32>(negative) >> 1u;
  out[i + 192u] = select(5, 7, (half ^ i32(u & 1u)) < -1);
}
