// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let a = i; let b = i * 7u % 13u; let c = 3u;
  var r = 0u;
  if a < b * c + 1u { r += 1u; }
  if a + 2u == b - c * 0u || a > b + 9u { r += 2u; }
  if a * 2u >= b + c && (a & 3u) != 0u { r += 4u; }
  r += (a + b * c - a / c % 2u) * 8u;
  r += (a << 2u) + (b >> 1u);
  r ^= ~a & b;
  out[i] = r + u32(-i32(a) * 2 - -3);
}
