enable f16;
// run: workgroups=1,1,1
// buffer data: u32[64] iota(0, 1)
// buffer out: f32[192]
// The upper half of a value that a branch has compared with a literal, which is split alone for sm_100: ptxas took all of the literal for it.
@group(0) @binding(0) var<storage, read> data: array<u32, 64>;
@group(0) @binding(1) var<storage, read_write> out: array<f32, 192>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let x = data[i];
  let upper = bitcast<vec2<f16>>(x).y;
  let y = f32(upper);
  out[i] = y + 1.0;
  if (x == 17u) {
    out[i + 64u] = y;
  }
  if (x != 23u) {
    out[i + 128u] = 1.0;
  } else {
    out[i + 128u] = f32(upper * 2.0h);
  }
}
