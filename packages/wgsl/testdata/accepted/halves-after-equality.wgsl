enable f16;
// run: workgroups=1,1,1
// buffer a: u32[64] values(17, 1114129, 3, 65536, 4294967295, 17)
// buffer o: u32[256]
// Halves of a value that a branch has compared with a literal: ptxas took all of the literal for each half.
@group(0) @binding(0) var<storage, read> a: array<u32, 64>;
@group(0) @binding(1) var<storage, read_write> o: array<u32, 256>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let x = a[i];
  let halves = bitcast<vec2<f16>>(x);
  if (x == 17u) {
    o[i] = bitcast<u32>(f32(halves.y));
    o[i + 64u] = bitcast<u32>(f32(halves.x));
  }
  let y = a[63u - i];
  let others = bitcast<vec2<f16>>(y);
  if (y != 65536u) {
    return;
  }
  o[i + 128u] = bitcast<u32>(f32(others.y + 1h));
  o[i + 192u] = bitcast<u32>(f32(others.x + others.y));
}
