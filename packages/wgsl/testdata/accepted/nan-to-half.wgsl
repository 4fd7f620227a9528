// run: workgroups=1,1,1
// buffer out: u32[4]
// A NaN that is read from bits stays a NaN when it is rounded to half precision.
@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn isNan(bits: u32) -> u32 {
  return u32((bits & 0x7fffffffu) > 0x7f800000u);
}

@compute @workgroup_size(1)
fn main() {
  let nan = bitcast<f32>(0x7fc00001u + out[0]);
  let packed = pack2x16float(vec2f(1, nan));
  out[0] = isNan(bitcast<u32>(quantizeToF16(nan)));
  out[1] = isNan(bitcast<u32>(quantizeToF16(vec2f(1, nan)).y));
  out[2] = u32((packed & 0x7fff0000u) > 0x7c000000u);
  out[3] = isNan(bitcast<u32>(unpack2x16float(packed).y));
}
