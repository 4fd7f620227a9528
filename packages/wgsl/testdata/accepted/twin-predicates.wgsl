// run: workgroups=1,1,1
// buffer data: u32[64] special
// buffer out: u32[64]
// ptxas makes one instruction of `a && b` and `a || b`, and took the first result for the second.
@group(0) @binding(0) var<storage, read> data: array<u32, 64>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 64>;

fn go(i: u32, w: vec3u, f0: bool, f1: bool, s: u32, s5: u32) {
  var i32_0 = bitcast<i32>(data[i]);
  var i32_1 = bitcast<i32>(data[i]);
  var i32_2 = 1i;
  var i32_3 = 1i;
  var i32_4 = -1i;
  var i32_5 = -1i;
  var u32_0 = 255u;
  var u32_1 = 7u;
  var b_0 = (data[i] & 128u) != 0u;
  var b_1 = (i > 9u);
  for (var k0 = 0u; k0 < 2u; k0++) {
    if (s5 > 9u) {
      i32_0 = (i32_5 - i32_3);
      b_0 = (i32_4 >= i32_3);
      continue;
    }
    for (var k1 = 0u; k1 < 3u; k1++) {
      b_1 = ((b_0 && b_1) == b_0);
      if (((w.x >= k0) & (b_1 | b_0))) { continue; }
      if (b_1) {
        u32_1 = (u32_0 << 3u);
      }
      if (s != 0u) {
        u32_1 ^= (k1 >> 3u);
        u32_1 = (k1 & 1u);
        break;
      }
    }
    if (b_1) { break; }
    if (b_1) {
      for (var k4 = (w.x & 1u); k4 < 5u; k4++) {
        i32_2 = max(i32_1, i32_1);
      }
    }
  }
  var hash = 7u;
  hash = hash * 31u + (u32_1);
  hash = hash * 31u + (select(hash, hash * 5u + 1u, b_0));
  out[i] = hash;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u) {
  go(i, w, false, true, 0u, 5u);
}
