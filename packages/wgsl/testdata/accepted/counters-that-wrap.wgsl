// run: workgroups=1,1,1
// buffer starts: u32[32] values(4294967280,4294967294,2147483646,2147483649,2147483632,3541945628,4294967288,1610612736,3,8,4294967295,2147483648,2074896722,536870912,1073741824,0)
// buffer ends: u32[32] values(0,25070295,2147483646,2736705294,2147483651,3541945629,2415919104,4294967294,6,3535621663,4294967289,2254843738,1136059037,2,2147483647,2147483650)
// buffer limits: u32[1] values(22)
// buffer out: u32[256]
// Counters that wrap around, and bounds whose distance from them does: ptxas 13.0 unrolls by four, and computes how many rounds are left as if they did not.
@group(0) @binding(0) var<storage, read> starts: array<u32>;
@group(0) @binding(1) var<storage, read> ends: array<u32>;
@group(0) @binding(2) var<storage, read> limits: array<u32>;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) li: u32) {
  let n = starts[li];
  let m = ends[li];
  let limit = limits[0];
  let at = 8u * li;
  var s = 1u;
  for (var k = i32(n); k < min(i32(m), 2013265920i); k += 67108867i) { s = s * 3u + u32(k); }
  out[at] = s;
  for (var k = i32(n); k >= max(i32(m), -2013265920i); k -= 134217728i) { s = s * 5u + starts[u32(k) >> 27u]; }
  out[at + 1u] = s;
  for (var k = i32(n) + i32(m); k + 2i <= 2i; k += 268435457i) {
    if (s == 26u) { continue; }
    s = s * 5u + ends[u32(k) & 31u];
  }
  out[at + 2u] = s;
  for (var k = 4i - i32(n); k < min(i32(m), 16i); k += 268435457i) {
    s ^= u32(k) / 3u;
    s += 7u;
  }
  out[at + 3u] = s;
  var rounds = 0u;
  for (var k = n; k <= n + 7u; k++) {
    if (rounds == limit) { break; }
    rounds++;
    s = s * 3u + k;
  }
  out[at + 4u] = s;
  rounds = 0u;
  for (var k = n; k >= n - 3u; k -= 2u) {
    if (rounds == limit) { break; }
    rounds++;
    s = s * 3u + k;
  }
  out[at + 5u] = s;
  rounds = 0u;
  for (var k = n; k >= n - 1073741824u; k -= 1073741824u) {
    if (rounds == limit) { break; }
    rounds++;
    s = s * 5u + ends[k >> 27u];
  }
  out[at + 6u] = s;
  rounds = 0u;
  for (var k = n; k < n + 15u; k += 2u) {
    if (rounds == limit) { break; }
    rounds++;
    s = s * 7u + k;
  }
  out[at + 7u] = s;
}
