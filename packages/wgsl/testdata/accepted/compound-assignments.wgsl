// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var a = i32(i) - 20;
  a += 7; a -= 2; a *= 3; a /= 2; a %= 17;
  var b = i;
  b &= 0x3cu; b |= 3u; b ^= 0x11u; b <<= 2u; b >>= 1u;
  out[i] = b * 1000u + u32(a + 100);
}
