// run: workgroups=1,1,1
// buffer given: u32[128] values(1099431936, 17, 0, 18, 19, 20, 4294967295, 22, 1283454976, 9, 2147483647)
// buffer out: u32[192]
// Zeros that follow from no literal: ptxas computed them when the prelude hid complements only from nvcc, and took
// a literal for each of its halves, and 0 for a signed minimum of an unsigned maximum.
enable f16;
@group(0) @binding(0) var<storage, read> given: array<u32, 128>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 192>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let x = given[i];
  let y = given[i + 64u];
  let both = ~y & y;
  let neither = ~(~y | y);
  let halves = bitcast<vec2<f16>>(x);
  out[i] = 1u;
  if (x == 17u + both) {
    out[i] = u32(f32(halves.y) * 16777216.0);
  }
  out[i + 64u] = bitcast<u32>(min(bitcast<i32>(max(x * 0x12345u, both)), bitcast<i32>(both)));
  out[i + 128u] = bitcast<u32>(min(bitcast<i32>(max(x * 0x54321u, neither)), bitcast<i32>(neither)));
}
