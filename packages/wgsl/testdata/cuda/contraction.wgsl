// run: workgroups=1,1,1 tolerance=ulp:2
// buffer a: f32[32] random(-8, 8)
// buffer out: f32[64]
// Products and sums may be contracted; tests of bits are kept as they are.
@group(0) @binding(0) var<storage, read> a: array<f32, 32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32, 64>;

fn is_nan(bits: u32) -> bool {
  return (bits & 0x7fffffffu) > 0x7f800000u;
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let x = a[i];
  out[i] = fma(x, x, 1.0) / 3.0;
  let bits = select(bitcast<u32>(x), 0x7fc00001u, i % 8u == 0u);
  out[32u + i] = select(bitcast<f32>(bits), -1.0, is_nan(bits));
}
